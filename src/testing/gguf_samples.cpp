#include "testing/gguf_samples.h"

#include <array>

namespace kvik {
namespace {

constexpr std::array<int32_t, 4> kTypes = {3, 1, 1, 1};

GgufWriter every_type() {
    GgufWriter w(2);
    w.alignment = 8;
    w.set("general.alignment", uint32_t{8});
    w.set("u8", uint8_t{200}).set("i8", int8_t{-100});
    w.set("u16", uint16_t{60000}).set("i16", int16_t{-30000});
    w.set("u32", uint32_t{4000000000}).set("i32", int32_t{-2000000000});
    w.set("u64", uint64_t{1} << 63).set("i64", int64_t{-5});
    w.set("f32", 1.5f).set("f64", -2.25).set("yes", true).set("no", false);
    w.set("text", "caf\xc3\xa9");
    w.set_array<int32_t>("i32s", std::array{1, -2, 3});
    w.set_array<float>("f32s", std::array{0.5f, -1.0f});
    w.set_array<bool>("bools", std::array{true, false});
    w.set_array<uint8_t>("empty", {});
    w.set_strings("texts", std::array<std::string, 3>{"a", "", "\xff"});
    w.random_tensor("f32", DType::f32, {2, 3}, 1);
    w.random_tensor("f16", DType::f16, {2, 2, 1, 5}, 2);
    w.random_tensor("q4_1", DType::q4_1, {2, 32}, 3);
    w.random_tensor("q8_0", DType::q8_0, {1, 2, 32}, 4);
    return w;
}

GgufWriter sentence_piece() {
    GgufWriter w;
    w.set("tokenizer.ggml.model", "llama");
    w.set_strings("tokenizer.ggml.tokens",
                  std::array<std::string, 4>{"<unk>", "<s>", "\xe2\x96\x81", "a"});
    w.set_array<float>("tokenizer.ggml.scores", std::array{0.0f, 0.0f, -1.0f, -2.0f});
    w.set_array<int32_t>("tokenizer.ggml.token_type", std::array{2, 3, 1, 1});
    w.set("tokenizer.ggml.unknown_token_id", uint32_t{0});
    w.set("tokenizer.ggml.bos_token_id", uint32_t{1});
    return w;
}

}  // namespace

GgufWriter sample_llama() {
    GgufWriter w;
    w.set("general.architecture", "llama").set("general.name", "tiny");
    w.set("llama.block_count", uint32_t{2});
    w.set("llama.context_length", uint32_t{64});
    w.set("llama.embedding_length", uint32_t{8});
    w.set("llama.feed_forward_length", uint32_t{16});
    w.set("llama.attention.head_count", uint32_t{2});
    w.set("llama.attention.head_count_kv", uint32_t{1});
    w.set("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    w.set("llama.rope.freq_base", 100000.0f);
    w.set("llama.rope.dimension_count", uint32_t{4});
    w.set("llama.vocab_size", uint32_t{4});
    w.set("tokenizer.ggml.model", "gpt2").set("tokenizer.ggml.pre", "smollm");
    w.set_strings("tokenizer.ggml.tokens", std::array<std::string, 4>{"<|end|>", "a", "b", "ab"});
    w.set_array<int32_t>("tokenizer.ggml.token_type", kTypes);
    w.set_strings("tokenizer.ggml.merges", std::array<std::string, 1>{"a b"});
    w.set("tokenizer.ggml.eos_token_id", uint32_t{0});
    w.set("tokenizer.chat_template", "{{ messages[0].content }}");
    w.random_tensor("token_embd.weight", DType::f32, {4, 8}, 1);
    return w;
}

std::vector<GgufSample> gguf_samples() {
    return {{"llama.gguf", sample_llama().bytes()},
            {"every_type.gguf", every_type().bytes()},
            {"sentence_piece.gguf", sentence_piece().bytes()}};
}

}  // namespace kvik
