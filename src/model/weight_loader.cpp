#include "model/weight_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_set>

#include "base/checked.h"
#include "base/digest.h"
#include "formats/byte_cursor.h"

namespace kvik {
namespace {

constexpr uint64_t kSliceBytes = 4 << 20;
constexpr uint64_t kTail = 8192;  // bytes after the last tile that a prefetch may name

// One tensor, or a part of one, on its way into the arena.
struct Job {
    const TensorEntry* entry;
    TensorPart part = {};
    PackedMatrix* matrix = nullptr;          // or
    const float** vector = nullptr;          // one of the two
    ScaleOffset offset = ScaleOffset::none;  // of a vector
    uint32_t n = 0;                          // of a vector
    uint64_t at = 0;                         // offset in the arena
    uint32_t tiles_per_slice = 1;
    uint32_t n_slices = 1;
};

std::string shape_text(const Shape& shape) {
    std::string text = "[";
    for (uint32_t i = 0; i < shape.n_dims; ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", shape.dims[i]);
    return text + "]";
}

// The names that stand for `name` in a file: checkpoints of a bare model lack the first part of
// Hugging Face's names ("transformer.").
std::array<std::string_view, 2> spellings(ModelFormat format, std::string_view name) {
    const size_t dot = name.find('.');
    if (format != ModelFormat::hugging_face || dot == name.npos) return {name, name};
    return {name, name.substr(dot + 1)};
}

const SkippedTensor* find_skipped(const TensorFile& file, ModelFormat format,
                                  const std::string& name) {
    const std::span<const SkippedTensor> all = file.skipped();
    for (const std::string_view spelling : spellings(format, name)) {
        const auto at = std::lower_bound(
            all.begin(), all.end(), spelling,
            [](const SkippedTensor& skipped, std::string_view s) { return skipped.name < s; });
        if (at != all.end() && at->name == spelling) return &*at;
    }
    return nullptr;
}

tl::unexpected<Error> unusable(const SkippedTensor& skipped) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: tensor {} at byte {} {}: use the model in another type, or as a "
                            "GGUF",
                            skipped.file, in_quotes(skipped.name), skipped.offset, skipped.why));
}

tl::unexpected<Error> missing(const TensorFile& file, const std::string& file_name,
                              ModelFormat format, const std::string& name, const Shape& shape) {
    if (const SkippedTensor* skipped = find_skipped(file, format, name)) return unusable(*skipped);
    return fail(ErrorKind::file,
                fmt::format("{}: tensor '{}' {} is missing: the file is incomplete or of another "
                            "architecture than it says, fetch or convert it again",
                            file_name, name, shape_text(shape)));
}

Result<const TensorEntry*> find(const TensorFile& file, const std::string& file_name,
                                ModelFormat format, const std::string& name, const Shape& shape) {
    const TensorEntry* entry = find_tensor(file, format, name);
    if (!entry) return missing(file, file_name, format, name, shape);
    if (entry->shape != shape)
        return fail(
            ErrorKind::file,
            fmt::format("{}: tensor '{}' at byte {} has shape {}, but the hyper-parameters "
                        "ask for {}: weights and hyper-parameters are not of one model, get both "
                        "from one source",
                        file.file_of(*entry), name, entry->offset, shape_text(entry->shape),
                        shape_text(shape)));
    return entry;
}

// A tensor that nothing here reads (a bias, an adapter) would silently change what the model says.
Result<void> refuse_leftovers(const TensorFile& file, const WeightPlan& plan,
                              const std::vector<Job>& jobs) {
    std::unordered_set<const TensorEntry*> used;
    for (const Job& job : jobs) used.insert(job.entry);
    for (const std::string& name : plan.ignored)
        if (const TensorEntry* entry = find_tensor(file, plan.format, name)) used.insert(entry);
    for (const TensorEntry& entry : file.tensors())
        if (!used.contains(&entry))
            return fail(
                ErrorKind::unsupported,
                fmt::format("{}: tensor {} {} at byte {} is no part of the architecture "
                            "as kvik computes it, answers without it would be wrong: take a "
                            "model without it",
                            file.file_of(entry), in_quotes(entry.name), shape_text(entry.shape),
                            entry.offset));
    const auto is_ignored = [&](const SkippedTensor& skipped) {
        return std::any_of(plan.ignored.begin(), plan.ignored.end(), [&](const std::string& name) {
            return find_skipped(file, plan.format, name) == &skipped;
        });
    };
    for (const SkippedTensor& skipped : file.skipped())
        if (skipped.could_matter && !is_ignored(skipped)) return unusable(skipped);
    return {};
}

Shape shape_of(const WeightPlan::Matrix& m) {
    const uint64_t n_out = m.part.n_all > 0 ? m.part.n_all : m.n_out;
    if (m.part.storage == TensorStorage::columns) return {{m.n_in, n_out, 1, 1}, 2};
    return {{n_out, m.n_in, 1, 1}, 2};
}

// Where the jobs begin in the arena is settled here too.
Result<std::vector<Job>> make_jobs(const TensorFile& file, const std::string& file_name,
                                   const WeightPlan& plan, uint64_t& arena_bytes) {
    std::vector<Job> jobs;
    arena_bytes = 0;
    for (const WeightPlan::Vector& v : plan.vectors) {
        if (v.need == TensorNeed::optional && !find_tensor(file, plan.format, v.name) &&
            !find_skipped(file, plan.format, v.name))
            continue;
        const Shape shape = {{v.part.n_all > 0 ? v.part.n_all : v.n, 1, 1, 1}, 1};
        KVIK_TRY(const TensorEntry* entry, find(file, file_name, plan.format, v.name, shape));
        if (dtype_info(entry->dtype).group_size != 1)
            return fail(
                ErrorKind::unsupported,
                fmt::format("{}: tensor '{}' is {}, kvik reads norms and biases in F32, F16 "
                            "and BF16: quantise the model again and keep them in F32",
                            file.file_of(*entry), v.name, dtype_info(entry->dtype).name));
        jobs.push_back({.entry = entry,
                        .part = v.part,
                        .vector = v.to,
                        .offset = v.offset,
                        .n = v.n,
                        .at = arena_bytes});
        arena_bytes += round_up(uint64_t{v.n} * sizeof(float), 64);
    }
    for (const WeightPlan::Matrix& m : plan.matrices) {
        KVIK_TRY(const TensorEntry* entry, find(file, file_name, plan.format, m.name, shape_of(m)));
        const std::optional<TileType> type = tile_type_of(entry->dtype);
        const bool is_turned = m.part.storage == TensorStorage::columns;
        if (!type || (is_turned && dtype_info(entry->dtype).group_size != 1))
            return fail(ErrorKind::unsupported,
                        fmt::format("{}: tensor '{}' is {}, which has no kernels here: take a "
                                    "model in another type",
                                    file.file_of(*entry), m.name, dtype_info(entry->dtype).name));
        *m.to = {*type, m.n_out, m.n_in, nullptr};
        Job job = {.entry = entry, .part = m.part, .matrix = m.to, .at = arena_bytes};
        job.tiles_per_slice = static_cast<uint32_t>(
            std::max<uint64_t>(1, kSliceBytes / std::max<uint64_t>(1, m.to->tile_bytes())));
        job.n_slices = (m.to->n_tiles() + job.tiles_per_slice - 1) / job.tiles_per_slice;
        jobs.push_back(job);
        arena_bytes += round_up(m.to->n_bytes(), 64);
    }
    return jobs;
}

// What a slice is read into; one a worker.
using Buffer = std::vector<std::byte>;

Result<void> read_bytes(const TensorFile& file, const TensorEntry& entry, uint64_t begin,
                        uint64_t n_bytes, Buffer& buffer) {
    buffer.resize(n_bytes);
    return file.read(entry, begin, buffer);
}

Result<void> pack_vector(const TensorFile& file, const Job& job, std::byte* arena, Buffer& buffer) {
    const DType dtype = job.entry->dtype;
    KVIK_TRY_VOID(read_bytes(file, *job.entry, dtype_bytes(dtype, job.part.first),
                             dtype_bytes(dtype, job.n), buffer));
    auto* to = reinterpret_cast<float*>(arena + job.at);
    dtype_info(dtype).decode(reinterpret_cast<const uint8_t*>(buffer.data()), job.n, to);
    if (job.offset == ScaleOffset::one)
        for (uint32_t i = 0; i < job.n; ++i) to[i] += 1.0f;
    return {};
}

// Outputs of a turned matrix as rows: [n_rows][n_in].
Result<void> read_turned(const TensorFile& file, const Job& job, uint32_t first, uint32_t n_rows,
                         Buffer& buffer) {
    const uint32_t size = dtype_info(job.entry->dtype).group_bytes;
    const uint64_t n_out = job.entry->shape.dims[1], n_in = job.matrix->n_cols;
    buffer.resize(n_rows * n_in * size);
    Buffer column(uint64_t{n_rows} * size);
    for (uint64_t i = 0; i < n_in; ++i) {
        KVIK_TRY_VOID(file.read(*job.entry, (i * n_out + job.part.first + first) * size, column));
        for (uint64_t r = 0; r < n_rows; ++r)
            std::memcpy(buffer.data() + (r * n_in + i) * size, column.data() + r * size, size);
    }
    return {};
}

// Reads and packs one slice; its bytes are left in the buffer.
Result<void> pack_slice(const TensorFile& file, const Job& job, uint32_t slice, std::byte* arena,
                        Buffer& buffer) {
    if (job.vector) return pack_vector(file, job, arena, buffer);
    const PackedMatrix& matrix = *job.matrix;
    const uint32_t tile = slice * job.tiles_per_slice;
    const uint32_t n_tiles = std::min(job.tiles_per_slice, matrix.n_tiles() - tile);
    const uint32_t first = tile * kTileRows;
    const uint32_t n_rows = std::min(n_tiles * kTileRows, matrix.n_rows - first);
    if (job.part.storage == TensorStorage::columns) {
        KVIK_TRY_VOID(read_turned(file, job, first, n_rows, buffer));
    } else {
        const uint64_t row_bytes = dtype_bytes(job.entry->dtype, matrix.n_cols);
        KVIK_TRY_VOID(read_bytes(file, *job.entry, (uint64_t{job.part.first} + first) * row_bytes,
                                 n_rows * row_bytes, buffer));
    }
    pack_tiles(matrix.type, reinterpret_cast<const uint8_t*>(buffer.data()), n_rows, matrix.n_cols,
               0, n_tiles, reinterpret_cast<uint8_t*>(arena + job.at + tile * matrix.tile_bytes()));
    return {};
}

struct Slice {
    const Job* job;
    uint32_t index;
    std::string hash = {};
};

// All slices on all threads; the first error stops them.
Result<void> pack_slices(const TensorFile& file, std::vector<Slice>& slices, uint64_t n_bytes,
                         std::byte* arena, ThreadPool& pool,
                         const std::function<void(uint64_t, uint64_t)>& progress) {
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> done{0};
    std::mutex mutex;
    std::optional<Error> error;
    pool.run([&](Worker worker) {
        Buffer buffer;
        for (size_t i = next.fetch_add(1); i < slices.size(); i = next.fetch_add(1)) {
            Slice& slice = slices[i];
            const Result<void> packed = pack_slice(file, *slice.job, slice.index, arena, buffer);
            if (!packed) {
                const std::lock_guard lock(mutex);
                if (!error) error = packed.error();
                next = slices.size();
                return;
            }
            slice.hash = xxh3_128_hex(buffer);
            done += buffer.size();
            if (worker.index() == 0 && progress) progress(done, n_bytes);
        }
    });
    if (error) return tl::unexpected<Error>(*std::move(error));
    if (progress) progress(n_bytes, n_bytes);
    return {};
}

}  // namespace

const TensorEntry* find_tensor(const TensorFile& file, ModelFormat format,
                               const std::string& name) {
    for (const std::string_view spelling : spellings(format, name))
        if (const TensorEntry* entry = file.find(spelling)) return entry;
    return nullptr;
}

Result<uint64_t> check_weights(const TensorFile& file, const std::string& file_name,
                               const WeightPlan& plan) {
    uint64_t arena_bytes = 0;
    KVIK_TRY(const std::vector<Job> jobs, make_jobs(file, file_name, plan, arena_bytes));
    KVIK_TRY_VOID(refuse_leftovers(file, plan, jobs));
    return arena_bytes;
}

Result<PackedWeights> pack_weights(const TensorFile& file, const std::string& file_name,
                                   const WeightPlan& plan, TransformerWeights& weights,
                                   ThreadPool& pool,
                                   const std::function<void(uint64_t, uint64_t)>& progress) {
    PackedWeights packed;
    uint64_t arena_bytes = 0;
    KVIK_TRY(std::vector<Job> jobs, make_jobs(file, file_name, plan, arena_bytes));
    KVIK_TRY_VOID(refuse_leftovers(file, plan, jobs));
    KVIK_TRY(weights.arena, Arena::reserve(arena_bytes + kTail, "weights"));
    std::byte* arena = weights.arena.data();

    uint64_t total = 0;
    std::vector<Slice> slices;
    for (const Job& job : jobs) {
        const uint64_t n = job.matrix ? uint64_t{job.matrix->n_rows} * job.matrix->n_cols : job.n;
        total += dtype_bytes(job.entry->dtype, n);
        packed.n_parameters += n;
        for (uint32_t i = 0; i < job.n_slices; ++i) slices.push_back({&job, i});
    }
    KVIK_TRY_VOID(pack_slices(file, slices, total, arena, pool, progress));

    Sha256 digest;
    const auto feed = [&](const std::string& text) {
        digest.update(std::as_bytes(std::span(text)));
    };
    for (const Slice& slice : slices) {
        if (slice.index == 0)
            feed(fmt::format("{} {} {} {}\n", slice.job->entry->name,
                             dtype_info(slice.job->entry->dtype).name,
                             shape_text(slice.job->entry->shape), slice.job->part.first));
        feed(slice.hash);
    }
    for (const Job& job : jobs) {
        if (job.vector) *job.vector = reinterpret_cast<const float*>(arena + job.at);
        if (job.matrix) job.matrix->data = reinterpret_cast<const uint8_t*>(arena + job.at);
    }
    packed.n_bytes = arena_bytes;
    packed.digest = digest.hex();
    return packed;
}

}  // namespace kvik
