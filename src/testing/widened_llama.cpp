#include "testing/widened_llama.h"

#include <algorithm>

namespace kvik {
namespace {

constexpr uint64_t kFactor = 4;  // the square of a power of two

using Bytes = std::vector<std::byte>;

void append(Bytes& to, std::span<const std::byte> from) {
    to.insert(to.end(), from.begin(), from.end());
}

GgufTensor widened_norm(const TensorEntry& entry, std::span<const std::byte> bytes) {
    std::vector<float> values(entry.shape.dims[0] * kFactor);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (float& value : values) value /= 2;
    const auto raw = std::as_bytes(std::span(values));
    return {.name = entry.name,
            .type = static_cast<uint32_t>(entry.dtype),
            .dims = {values.size()},
            .data = {raw.begin(), raw.end()}};
}

// What a matrix maps: the residual stream to inner channels (heads, feed-forward) or back. The extra
// inner channels are copies of the live ones, which the way back does not read.
GgufTensor widened_matrix(const TensorEntry& entry, std::span<const std::byte> bytes) {
    const uint64_t n_rows = entry.shape.dims[0], n_cols = entry.shape.dims[1];
    const uint64_t row_bytes = bytes.size() / n_rows;
    const Bytes dead(row_bytes * (kFactor - 1));
    const bool is_back = entry.name.find("attn_output") != std::string::npos ||
                         entry.name.find("ffn_down") != std::string::npos;
    const bool is_inner = entry.name.starts_with("blk.") && !is_back;
    Bytes data;
    for (uint64_t copy = 0; copy < (is_inner ? kFactor : 1); ++copy)
        for (uint64_t row = 0; row < n_rows; ++row) {
            append(data, bytes.subspan(row * row_bytes, row_bytes));
            append(data, dead);
        }
    const bool has_vocabulary = !is_inner && !is_back;
    const uint64_t rows = has_vocabulary ? n_rows : n_rows * kFactor;
    data.resize(rows * row_bytes * kFactor);
    return {.name = entry.name,
            .type = static_cast<uint32_t>(entry.dtype),
            .dims = {rows, n_cols * kFactor},
            .data = std::move(data)};
}

}  // namespace

GgufWriter widened_llama(const TinyLlama& narrow, const GgufFile& file) {
    constexpr auto kWider = static_cast<uint32_t>(kFactor);
    GgufWriter w;
    w.set("general.architecture", "llama");
    w.set("general.name", "widened");
    w.set("llama.block_count", narrow.n_layers);
    w.set("llama.context_length", narrow.context_length);
    w.set("llama.embedding_length", narrow.hidden_size * kWider);
    w.set("llama.feed_forward_length", narrow.intermediate_size * kWider);
    w.set("llama.attention.head_count", narrow.n_heads * kWider);
    w.set("llama.attention.head_count_kv", narrow.n_kv_heads * kWider);
    w.set("llama.attention.layer_norm_rms_epsilon", 1e-5f / static_cast<float>(kFactor));
    w.set("llama.vocab_size", narrow.vocab_size);
    for (const TensorEntry& entry : file.tensors()) {
        const std::span<const std::byte> bytes = file.view(entry).bytes;
        w.tensor(entry.shape.n_dims == 1 ? widened_norm(entry, bytes)
                                         : widened_matrix(entry, bytes));
    }
    return w;
}

}  // namespace kvik
