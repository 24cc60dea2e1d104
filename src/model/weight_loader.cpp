#include "model/weight_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_set>

#include "base/checked.h"
#include "base/digest.h"

namespace kvik {
namespace {

constexpr uint64_t kSliceBytes = 4 << 20;
constexpr uint64_t kTail = 8192;  // bytes after the last tile that a prefetch may name

// One tensor on its way into the arena.
struct Job {
    const TensorEntry* entry;
    PackedMatrix* matrix;  // or
    const float** vector;  // one of the two
    uint64_t at = 0;       // offset in the arena
    uint32_t tiles_per_slice = 1;
    uint32_t n_slices = 1;
    uint32_t first_slice = 0;  // slices before it
};

std::string shape_text(const Shape& shape) {
    std::string text = "[";
    for (uint32_t i = 0; i < shape.n_dims; ++i)
        text += fmt::format("{}{}", i == 0 ? "" : ", ", shape.dims[i]);
    return text + "]";
}

Result<const TensorEntry*> find(const TensorFile& file, const std::string& file_name,
                                const std::string& name, const Shape& shape) {
    const TensorEntry* entry = file.find(name);
    if (!entry)
        return fail(ErrorKind::file,
                    fmt::format("{}: tensor '{}' {} is missing: the file is incomplete or of "
                                "another architecture than it says",
                                file_name, name, shape_text(shape)));
    if (entry->shape != shape)
        return fail(ErrorKind::file, fmt::format("{}: tensor '{}' at byte {} has shape {}, but the "
                                                 "hyper-parameters ask for {}",
                                                 file_name, name, entry->offset,
                                                 shape_text(entry->shape), shape_text(shape)));
    return entry;
}

// A tensor that nothing here reads (a bias, an adapter) would silently change what the model says.
Result<void> refuse_leftovers(const TensorFile& file, const std::string& file_name,
                              const std::vector<Job>& jobs) {
    std::unordered_set<const TensorEntry*> used;
    for (const Job& job : jobs) used.insert(job.entry);
    for (const TensorEntry& entry : file.tensors())
        if (!used.contains(&entry))
            return fail(ErrorKind::unsupported,
                        fmt::format("{}: tensor '{}' {} at byte {} is no part of the architecture "
                                    "as kvik computes it: answers without it would be wrong",
                                    file_name, entry.name, shape_text(entry.shape), entry.offset));
    return {};
}

Result<std::vector<Job>> make_jobs(const TensorFile& file, const std::string& file_name,
                                   const WeightPlan& plan, uint64_t& arena_bytes) {
    std::vector<Job> jobs;
    arena_bytes = 0;
    for (const WeightPlan::Vector& v : plan.vectors) {
        const Shape shape = {{v.n, 1, 1, 1}, 1};
        KVIK_TRY(const TensorEntry* entry, find(file, file_name, v.name, shape));
        jobs.push_back({entry, nullptr, v.to, arena_bytes});
        arena_bytes += round_up(uint64_t{v.n} * sizeof(float), 64);
    }
    for (const WeightPlan::Matrix& m : plan.matrices) {
        const Shape shape = {{m.n_out, m.n_in, 1, 1}, 2};
        KVIK_TRY(const TensorEntry* entry, find(file, file_name, m.name, shape));
        const std::optional<TileType> type = tile_type_of(entry->dtype);
        if (!type)
            return fail(ErrorKind::unsupported,
                        fmt::format("{}: tensor '{}' is {}, which has no kernels", file_name,
                                    m.name, dtype_info(entry->dtype).name));
        *m.to = {*type, m.n_out, m.n_in, nullptr};
        Job job = {entry, m.to, nullptr, arena_bytes};
        job.tiles_per_slice = static_cast<uint32_t>(
            std::max<uint64_t>(1, kSliceBytes / std::max<uint64_t>(1, m.to->tile_bytes())));
        job.n_slices = (m.to->n_tiles() + job.tiles_per_slice - 1) / job.tiles_per_slice;
        jobs.push_back(job);
        arena_bytes += round_up(m.to->n_bytes(), 64);
    }
    uint32_t n_slices = 0;
    for (Job& job : jobs) {
        job.first_slice = n_slices;
        n_slices += job.n_slices;
    }
    return jobs;
}

// Hashes, packs and releases one slice; returns the bytes read.
uint64_t pack_slice(const TensorFile& file, const Job& job, uint32_t slice, std::byte* arena,
                    std::string& hash) {
    const TensorView view = file.view(*job.entry);
    if (job.vector) {
        hash = xxh3_128_hex(view.bytes);
        auto* to = reinterpret_cast<float*>(arena + job.at);
        const DTypeInfo& info = dtype_info(view.dtype);
        info.decode(view.data(), view.shape.n_elements() / info.group_size, to);
        return view.bytes.size();
    }
    const PackedMatrix& matrix = *job.matrix;
    const uint32_t tile = slice * job.tiles_per_slice;
    const uint32_t n_tiles = std::min(job.tiles_per_slice, matrix.n_tiles() - tile);
    const uint64_t row_bytes = dtype_bytes(view.dtype, matrix.n_cols);
    const uint64_t begin = uint64_t{tile} * kTileRows * row_bytes;
    const uint64_t end =
        std::min<uint64_t>(uint64_t{tile + n_tiles} * kTileRows * row_bytes, view.bytes.size());
    hash = xxh3_128_hex(view.bytes.subspan(begin, end - begin));
    pack_tiles(matrix.type, view.data(), matrix.n_rows, matrix.n_cols, tile, n_tiles,
               reinterpret_cast<uint8_t*>(arena + job.at + tile * matrix.tile_bytes()));
    file.release(*job.entry, begin, end - begin);
    return end - begin;
}

}  // namespace

Result<PackedWeights> pack_weights(const TensorFile& file, const std::string& file_name,
                                   const WeightPlan& plan, TransformerWeights& weights,
                                   ThreadPool& pool,
                                   const std::function<void(uint64_t, uint64_t)>& progress) {
    PackedWeights packed;
    uint64_t arena_bytes = 0;
    KVIK_TRY(std::vector<Job> jobs, make_jobs(file, file_name, plan, arena_bytes));
    KVIK_TRY_VOID(refuse_leftovers(file, file_name, jobs));
    KVIK_TRY(weights.arena, Arena::reserve(arena_bytes + kTail, "weights"));
    std::byte* arena = weights.arena.data();

    uint64_t total = 0;
    struct Slice {
        const Job* job;
        uint32_t index;
        std::string hash;
    };
    std::vector<Slice> slices;
    for (const Job& job : jobs) {
        total += job.entry->n_bytes;
        packed.n_parameters += job.entry->shape.n_elements();
        for (uint32_t i = 0; i < job.n_slices; ++i) slices.push_back({&job, i, {}});
    }
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> done{0};
    pool.run([&](Worker worker) {
        for (size_t i = next.fetch_add(1); i < slices.size(); i = next.fetch_add(1)) {
            Slice& slice = slices[i];
            done += pack_slice(file, *slice.job, slice.index, arena, slice.hash);
            if (worker.index() == 0 && progress) progress(done, total);
        }
    });
    if (progress) progress(total, total);

    Sha256 digest;
    const auto feed = [&](const std::string& text) {
        digest.update(std::as_bytes(std::span(text)));
    };
    for (const Slice& slice : slices) {
        if (slice.index == 0)
            feed(fmt::format("{} {} {}\n", slice.job->entry->name,
                             dtype_info(slice.job->entry->dtype).name,
                             shape_text(slice.job->entry->shape)));
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
