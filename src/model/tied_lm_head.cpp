#include "model/tied_lm_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "model/arch/plans.h"
#include "model/arch/registry.h"
#include "model/weight_loader.h"

namespace kvik {
namespace {

constexpr uint64_t kSliceBytes = 1 << 20;

Result<bool> are_equal(const TensorFile& file, const TensorEntry& a, const TensorEntry& b) {
    if (a.dtype != b.dtype || a.shape != b.shape || a.n_bytes != b.n_bytes) return false;
    std::vector<std::byte> of_a, of_b;
    for (uint64_t begin = 0; begin < a.n_bytes; begin += kSliceBytes) {
        of_a.resize(std::min(kSliceBytes, a.n_bytes - begin));
        of_b.resize(of_a.size());
        KVIK_TRY_VOID(file.read(a, begin, of_a));
        KVIK_TRY_VOID(file.read(b, begin, of_b));
        if (of_a != of_b) return false;
    }
    return true;
}

}  // namespace

Result<void> resolve_tied_head(ModelSource& source, const std::string& path) {
    if (!source.config.tied_lm_head || source.format != ModelFormat::hugging_face) return {};
    const TensorFile& file = *source.tensors;
    const TensorEntry* head =
        find_tensor(file, source.format, std::string(kLmHeadName.hugging_face));
    if (head == nullptr) return {};
    const Architecture* architecture = find_architecture(source.config.architecture);
    KVIK_CHECK(architecture, "a reader accepts only registered architectures");
    TransformerWeights weights;
    WeightPlan plan(source.format);
    architecture->plan(source.config, weights, plan);
    const auto embedding =
        std::ranges::find(plan.matrices, &weights.embedding, &WeightPlan::Matrix::to);
    KVIK_CHECK(embedding != plan.matrices.end(), "every architecture has an embedding");
    const TensorEntry* tied = find_tensor(file, source.format, embedding->name);
    if (tied == nullptr) return {};  // whoever loads the weights says so
    KVIK_TRY(const bool is_copy, are_equal(file, *head, *tied));
    if (is_copy) return {};
    source.config.tied_lm_head = false;
    source.notes.push_back(
        fmt::format("{}: config.json ties the head to the embedding, but the file has another {}: "
                    "the file's own head is used",
                    path, head->name));
    return {};
}

}  // namespace kvik
