#include "cli/check_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>

#include "base/digest.h"
#include "tensor/dtype.h"

namespace kvik::cli {
namespace {

constexpr uint64_t kSliceBytes = 1 << 20;

// Whole groups of one tensor.
struct Slice {
    const TensorEntry* entry;
    uint64_t first_group;
    uint64_t n_groups;
    // What was found:
    uint64_t n_not_finite = 0;
    uint64_t first_index = UINT64_MAX;
    bool is_zero = true;
    std::string hash = {};
};

std::vector<Slice> slices_of(const TensorFile& file) {
    std::vector<Slice> slices;
    for (const TensorEntry& entry : file.tensors()) {
        const DTypeInfo& info = dtype_info(entry.dtype);
        const uint64_t n_groups = entry.n_bytes / info.group_bytes;
        const uint64_t most = std::max<uint64_t>(1, kSliceBytes / info.group_bytes);
        for (uint64_t first = 0; first < n_groups; first += most)
            slices.push_back({&entry, first, std::min(most, n_groups - first)});
    }
    return slices;
}

Result<void> read_slice(const TensorFile& file, Slice& slice, std::vector<std::byte>& bytes) {
    const DTypeInfo& info = dtype_info(slice.entry->dtype);
    bytes.resize(slice.n_groups * info.group_bytes);
    KVIK_TRY_VOID(file.read(*slice.entry, slice.first_group * info.group_bytes, bytes));
    slice.hash = xxh3_128_hex(bytes);
    const auto* groups = reinterpret_cast<const uint8_t*>(bytes.data());
    std::array<float, 4096> values;
    const uint64_t most = values.size() / info.group_size;
    for (uint64_t done = 0; done < slice.n_groups; done += most) {
        const uint64_t n = std::min(most, slice.n_groups - done);
        info.decode(groups + done * info.group_bytes, n, values.data());
        for (uint64_t i = 0; i < n * info.group_size; ++i) {
            if (values[i] != 0) slice.is_zero = false;
            if (std::isfinite(values[i])) continue;
            if (slice.n_not_finite++ == 0)
                slice.first_index = (slice.first_group + done) * info.group_size + i;
        }
    }
    return {};
}

std::string heading_of(const TensorEntry& entry) {
    std::string text = fmt::format("{} {}", entry.name, dtype_info(entry.dtype).name);
    for (uint32_t i = 0; i < entry.shape.n_dims; ++i)
        text += fmt::format(" {}", entry.shape.dims[i]);
    return text + "\n";
}

}  // namespace

Result<TensorCheck> check_tensors(const TensorFile& file, ThreadPool& pool,
                                  const std::function<void(uint64_t, uint64_t)>& progress) {
    std::vector<Slice> slices = slices_of(file);
    TensorCheck check;
    check.n_tensors = file.tensors().size();
    for (const TensorEntry& entry : file.tensors()) check.n_bytes += entry.n_bytes;
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> done_bytes{0};
    std::mutex mutex;
    std::optional<Error> error;
    pool.run([&](Worker worker) {
        std::vector<std::byte> bytes;
        for (size_t i = next.fetch_add(1); i < slices.size(); i = next.fetch_add(1)) {
            const Result<void> read = read_slice(file, slices[i], bytes);
            if (!read) {
                const std::lock_guard lock(mutex);
                if (!error) error = read.error();
                next = slices.size();
                return;
            }
            done_bytes += bytes.size();
            if (worker.index() == 0 && progress) progress(done_bytes, check.n_bytes);
        }
    });
    if (error) return tl::unexpected<Error>(*std::move(error));
    Sha256 digest;
    const auto feed = [&](const std::string& text) {
        digest.update(std::as_bytes(std::span(text)));
    };
    for (auto slice = slices.begin(); slice != slices.end();) {
        const TensorEntry& entry = *slice->entry;
        DamagedTensor damaged{.name = entry.name};
        bool is_zero = true;
        feed(heading_of(entry));
        for (; slice != slices.end() && slice->entry == &entry; ++slice) {
            feed(slice->hash);
            is_zero = is_zero && slice->is_zero;
            if (slice->n_not_finite > 0 && damaged.n_not_finite == 0)
                damaged.first_index = slice->first_index;
            damaged.n_not_finite += slice->n_not_finite;
        }
        const bool is_matrix = entry.shape.n_dims > 1;
        check.n_matrices += is_matrix;
        check.n_zero_matrices += is_matrix && is_zero;
        if (is_zero) check.all_zero.push_back(entry.name);
        if (damaged.n_not_finite > 0) check.damaged.push_back(std::move(damaged));
    }
    check.digest = digest.hex();
    return check;
}

}  // namespace kvik::cli
