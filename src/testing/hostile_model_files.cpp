// Files whose container is sound and whose model is not.
#include <fmt/format.h>

#include <array>
#include <limits>
#include <span>

#include "formats/gguf.h"
#include "testing/hostile_files.h"
#include "testing/patch_bytes.h"
#include "testing/safetensors_writer.h"
#include "testing/tiny_llama.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;
using Cases = std::vector<HostileFile>;

void add(Cases& cases, std::string about, std::string lie, Bytes bytes) {
    cases.push_back({std::move(about), std::move(lie), {{"m.gguf", std::move(bytes)}}, "m.gguf"});
}

GgufWriter llama() {
    return tiny_llama({});
}

// The first key of this name, from now on another one.
Bytes without(const Bytes& bytes, std::string_view key) {
    return with_bytes_at(bytes, find_bytes(bytes, key) + key.size() - 1, '#');
}

template <class T>
Bytes with(std::string_view key, T value) {
    const Bytes honest = llama().bytes();
    const bool was_there = GgufFile::from_bytes(honest, "")->metadata().find(key) != nullptr;
    const Bytes bytes = llama().set(key, value).bytes();
    return was_there ? without(bytes, key) : bytes;
}

void numbers(Cases& cases) {
    const std::string about = "GGUF: hyper-parameters";
    const std::string heads = "llama.attention.head_count";
    add(cases, about, "no layers", with("llama.block_count", 0u));
    add(cases, about, "2^32 - 1 layers", with("llama.block_count", UINT32_MAX));
    add(cases, about, "2^63 layers", with("llama.block_count", uint64_t{1} << 63));
    add(cases, about, "-1 layers", with("llama.block_count", int32_t{-1}));
    add(cases, about, "1024 layers where 2 are", with("llama.block_count", 1024u));
    add(cases, about, "hidden states of no width", with("llama.embedding_length", 0u));
    add(cases, about, "hidden states of 2^31", with("llama.embedding_length", 1u << 31));
    add(cases, about, "no heads", with(heads, 0u));
    add(cases, about, "2^31 heads", with(heads, 1u << 31));
    add(cases, about, "3 heads in 64 dimensions", with(heads, 3u));
    add(cases, about, "no KV heads", with(heads + "_kv", 0u));
    add(cases, about, "3 KV heads for 4 heads", with(heads + "_kv", 3u));
    add(cases, about, "8 KV heads for 4 heads", with(heads + "_kv", 8u));
    add(cases, about, "heads of no width", with("llama.attention.key_length", 0u));
    add(cases, about, "heads of 2^31", with("llama.attention.key_length", 1u << 31));
    add(cases, about, "heads of 258, which no kernel takes",
        with("llama.attention.key_length", 258u));
    add(cases, about, "keys and values of different width",
        with("llama.attention.value_length", 32u));
    add(cases, about, "a feed-forward of no width", with("llama.feed_forward_length", 0u));
    add(cases, about, "no context", with("llama.context_length", 0u));
    add(cases, about, "a context of 2^32 - 1", with("llama.context_length", UINT32_MAX));
    add(cases, about, "an epsilon of 0", with(heads.substr(0, 16) + "layer_norm_rms_epsilon", 0.f));
    add(cases, about, "an epsilon that is no number",
        with(heads.substr(0, 16) + "layer_norm_rms_epsilon",
             std::numeric_limits<float>::quiet_NaN()));
    add(cases, about, "a RoPE base of -1", with("llama.rope.freq_base", -1.f));
    add(cases, about, "a RoPE base of infinity",
        with("llama.rope.freq_base", std::numeric_limits<float>::infinity()));
    add(cases, about, "RoPE over 5 dimensions", with("llama.rope.dimension_count", 5u));
    add(cases, about, "RoPE over more than a head", with("llama.rope.dimension_count", 18u));
    add(cases, about, "RoPE scaled by 0", with("llama.rope.scaling.factor", 0.f));
    add(cases, about, "a vocabulary that is not the embedding's", with("llama.vocab_size", 78u));
}

void types(Cases& cases) {
    const std::string about = "GGUF: what the metadata is made of";
    add(cases, about, "no architecture", without(llama().bytes(), "general.architecture"));
    add(cases, about, "an architecture that is a number", with("general.architecture", 3u));
    add(cases, about, "an architecture that nobody knows",
        with("general.architecture", "babbage\x1b[2J"));
    add(cases, about, "no number of layers", without(llama().bytes(), "llama.block_count"));
    add(cases, about, "a number of layers that is text", with("llama.block_count", "2"));
    add(cases, about, "a number of layers that is real", with("llama.block_count", 2.0f));
    add(cases, about, "a number of heads that is a list",
        without(
            llama()
                .set_array<uint32_t>("llama.attention.head_count", std::array<uint32_t, 2>{4, 4})
                .bytes(),
            "llama.attention.head_count"));
    add(cases, about, "an epsilon that is a boolean",
        with("llama.attention.layer_norm_rms_epsilon", true));
    add(cases, about, "a RoPE scaling that nobody knows", with("llama.rope.scaling.type", "magic"));
    add(cases, about, "experts", with("llama.expert_count", 8u));
    add(cases, about, "an architecture that is not UTF-8",
        with("general.architecture", "\xc0\x80"));
    add(cases, about, "a chat template that is a number", with("tokenizer.chat_template", 1u));
    add(cases, about, "a chat template over 1 MiB",
        with("tokenizer.chat_template", std::string((1 << 20) + 1, 'x')));
    add(cases, about, "a chat template that is not UTF-8",
        with("tokenizer.chat_template", "\xc0\x80"));
}

// One byte of a key's value, `at` bytes behind the key, from now on another one.
Bytes with_byte(const Bytes& bytes, std::string_view key, size_t at, uint8_t byte) {
    return with_bytes_at(bytes, find_bytes(bytes, key) + key.size() + at, byte);
}

// A tiny llama of four tokens.
GgufWriter speaking(std::span<const std::string> tokens, std::string_view model = "gpt2") {
    TinyLlama shape;
    shape.vocab_size = 4;
    GgufWriter w = tiny_llama(shape);
    w.set("tokenizer.ggml.model", model);
    if (model == "gpt2") w.set("tokenizer.ggml.pre", "gpt2");
    w.set_strings("tokenizer.ggml.tokens", tokens);
    return w;
}

void words(Cases& cases) {
    const std::string about = "GGUF: tokenizer";
    const std::array<std::string, 4> tokens = {"a", "b", "ab", "<end>"};
    const auto merged = [&](std::string merge) {
        return speaking(tokens)
            .set_strings("tokenizer.ggml.merges", std::array<std::string, 1>{std::move(merge)})
            .bytes();
    };
    add(cases, about, "a model that nobody knows", speaking(tokens, "psychic").bytes());
    add(cases, about, "a pattern that nobody knows",
        without(speaking(tokens)
                    .set("tokenizer.ggml.pre", "guess")
                    .set_strings("tokenizer.ggml.merges", std::array<std::string, 1>{"a b"})
                    .bytes(),
                "tokenizer.ggml.pre"));
    add(cases, about, "byte-level tokens without merges", speaking(tokens).bytes());
    add(cases, about, "no tokens", without(speaking(tokens).bytes(), "tokenizer.ggml.tokens"));
    add(cases, about, "tokens that are numbers",
        without(speaking(tokens).set("tokenizer.ggml.tokens", 4u).bytes(),
                "tokenizer.ggml.tokens"));
    add(cases, about, "3 tokens for an embedding of 4",
        speaking(std::span(tokens).first(3)).bytes());
    add(cases, about, "3 types for 4 tokens",
        speaking(tokens)
            .set_array<int32_t>("tokenizer.ggml.token_type", std::array<int32_t, 3>{1, 1, 1})
            .bytes());
    add(cases, about, "a token of type 7",
        speaking(tokens)
            .set_array<int32_t>("tokenizer.ggml.token_type", std::array<int32_t, 4>{1, 1, 7, 3})
            .bytes());
    add(cases, about, "a type of 2^63 for a token",
        speaking(tokens)
            .set_array<uint64_t>("tokenizer.ggml.token_type",
                                 std::array<uint64_t, 4>{1, 1, uint64_t{1} << 63, 3})
            .bytes());
    add(cases, about, "a boolean that is 2",
        with_byte(speaking(tokens).set("tokenizer.ggml.add_bos_token", true).bytes(),
                  "tokenizer.ggml.add_bos_token", 4, 2));
    add(cases, about, "a token over 1 MiB",
        speaking(std::array<std::string, 4>{"a", std::string((1 << 20) + 1, 'x'), "c", "<end>"})
            .bytes());
    add(cases, about, "an end token of id 4",
        speaking(tokens).set("tokenizer.ggml.eos_token_id", 4u).bytes());
    add(cases, about, "a first token of id 2^32 - 1",
        speaking(tokens).set("tokenizer.ggml.bos_token_id", UINT32_MAX).bytes());
    add(cases, about, "a merge of one part", merged("ab"));
    add(cases, about, "a merge of what is no token", merged("a x"));
    add(cases, about, "a merge into what is no token", merged("b a"));
    add(cases, about, "SentencePiece without scores", speaking(tokens, "llama").bytes());
    add(cases, about, "a score that is no number",
        speaking(tokens, "llama")
            .set_array<float>(
                "tokenizer.ggml.scores",
                std::array<float, 4>{0, 0, std::numeric_limits<float>::quiet_NaN(), 0})
            .bytes());
    add(cases, about, "a byte token that spells no byte",
        speaking(std::array<std::string, 4>{"a", "b", "<0x100>", "<end>"}, "llama")
            .set_array<float>("tokenizer.ggml.scores", std::array<float, 4>{0, 0, 0, 0})
            .set_array<int32_t>("tokenizer.ggml.token_type", std::array<int32_t, 4>{1, 1, 6, 2})
            .bytes());
}

// The last norm in a type of groups.
Bytes grouped_norm() {
    const Bytes bytes = llama().random_tensor("output_norm.weight", DType::q8_0, {64}, 1).bytes();
    return without(bytes, "output_norm.weight");
}

void weights(Cases& cases) {
    const std::string about = "GGUF: weights";
    const auto instead = [](const std::string& name, DType dtype, std::vector<uint64_t> dims) {
        TinyLlama shape;
        shape.without = name;
        return tiny_llama(shape).random_tensor(name, dtype, std::move(dims), 1).bytes();
    };
    TinyLlama shape;
    for (const char* name : {"token_embd.weight", "blk.1.ffn_up.weight"}) {
        shape.without = name;
        add(cases, about, fmt::format("no {}", name), tiny_llama(shape).bytes());
    }
    add(cases, about, "a matrix with a row too few",
        instead("blk.1.ffn_up.weight", DType::q8_0, {95, 64}));
    add(cases, about, "a matrix the wrong way round",
        instead("blk.1.ffn_up.weight", DType::q8_0, {64, 96}));
    add(cases, about, "a matrix as a list", instead("blk.1.ffn_up.weight", DType::q8_0, {96 * 64}));
    add(cases, about, "an embedding of three dimensions",
        instead("token_embd.weight", DType::q8_0, {1, 77, 64}));
    const auto divided = [](const std::vector<float>& by) {
        return llama().f32_tensor("rope_freqs.weight", {by.size()}, by).bytes();
    };
    add(cases, about, "RoPE divisors for another width", divided({1, 1, 1}));
    add(cases, about, "a RoPE divisor of 0", divided({1, 1, 1, 1, 1, 1, 1, 0}));
    add(cases, about, "norms in groups", grouped_norm());
    add(cases, about, "a tensor that nothing reads",
        llama().random_tensor("blk.0.attn_q.lora", DType::f32, {64}, 1).bytes());
    add(cases, about, "another whose name would clear the screen",
        llama().random_tensor("a\n\x1b[2J", DType::f32, {64}, 1).bytes());
}

Bytes raw(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// A directory: this config.json, and an embedding of [4, 64].
void add_directory(Cases& cases, std::string about, std::string lie, std::string_view config,
                   const SafetensorsWriter& weights) {
    cases.push_back({std::move(about),
                     std::move(lie),
                     {{"config.json", raw(config)}, {"model.safetensors", weights.bytes()}},
                     ""});
}

// What config.json says of a tiny llama, but for one field.
std::string config_with(std::string_view key, std::string_view value) {
    constexpr std::array<std::array<std::string_view, 2>, 9> fields = {{
        {"model_type", "\"llama\""},
        {"hidden_size", "64"},
        {"intermediate_size", "96"},
        {"num_hidden_layers", "1"},
        {"num_attention_heads", "4"},
        {"num_key_value_heads", "2"},
        {"max_position_embeddings", "64"},
        {"vocab_size", "4"},
        {"tie_word_embeddings", "true"},
    }};
    std::string text = fmt::format("{{\"{}\": {}", key, value);
    for (const auto& field : fields)
        if (field[0] != key) text += fmt::format(", \"{}\": {}", field[0], field[1]);
    return text + "}";
}

void directories(Cases& cases) {
    const std::string about = "directory: config.json";
    SafetensorsWriter embedding;
    embedding.tensor("model.embed_tokens.weight", "F32", {4, 64}, Bytes(4 * 64 * 4));
    const auto config = [&](std::string lie, std::string_view text) {
        add_directory(cases, about, std::move(lie), text, embedding);
    };
    const auto field = [&](std::string lie, std::string_view key, std::string_view value) {
        config(std::move(lie), config_with(key, value));
    };
    cases.push_back({about, "nothing: it is not there", {}, ""});
    config("no JSON", "{\"model_type\"");
    config("a list", "[]");
    config("a million open brackets", std::string(1'000'000, '['));
    config("the same key twice", R"({"model_type":"llama","model_type":"gpt2"})");
    config("no architecture", "{}");
    field("an architecture that nobody knows", "model_type", "\"babbage\\u001b[2J\"");
    field("no heads", "num_attention_heads", "0");
    field("3 heads in 64 dimensions", "num_attention_heads", "3");
    field("3 KV heads for 4 heads", "num_key_value_heads", "3");
    field("2^64 layers", "num_hidden_layers", "18446744073709551616");
    field("-1 layers", "num_hidden_layers", "-1");
    field("a number of layers that is text", "num_hidden_layers", "\"1\"");
    field("a number of layers that is real", "num_hidden_layers", "1.5");
    field("no context", "max_position_embeddings", "0");
    field("an epsilon of 1e400", "rms_norm_eps", "1e400");
    std::string mistral = config_with("layer_types", R"(["full_attention","full_attention"])");
    mistral.replace(mistral.find("llama"), 5, "mistral");
    config("a window for each of 2 layers, and there is 1", mistral);
    field("weights packed in a way of their own", "quantization_config", R"({"bits":4})");
}

SafetensorsWriter tiny_norms() {
    SafetensorsWriter norms;
    for (const char* name : {"model.layers.0.input_layernorm.weight",
                             "model.layers.0.post_attention_layernorm.weight", "model.norm.weight"})
        norms.tensor(name, "F32", {64}, Bytes(64 * 4));
    return norms;
}

// All that config_with's model needs.
SafetensorsWriter tiny_weights() {
    SafetensorsWriter w = tiny_norms();
    const auto matrix = [&](std::string_view name, uint64_t n_out, uint64_t n_in) {
        w.tensor(name, "BF16", {n_out, n_in}, Bytes(n_out * n_in * 2));
    };
    matrix("model.embed_tokens.weight", 4, 64);
    matrix("model.layers.0.self_attn.q_proj.weight", 64, 64);
    matrix("model.layers.0.self_attn.k_proj.weight", 32, 64);
    matrix("model.layers.0.self_attn.v_proj.weight", 32, 64);
    matrix("model.layers.0.self_attn.o_proj.weight", 64, 64);
    matrix("model.layers.0.mlp.gate_proj.weight", 96, 64);
    matrix("model.layers.0.mlp.up_proj.weight", 96, 64);
    matrix("model.layers.0.mlp.down_proj.weight", 64, 96);
    return w;
}

void directory_weights(Cases& cases) {
    const std::string about = "directory: weights";
    const SafetensorsWriter norms = tiny_norms();
    const auto embedding = [&](std::string lie, std::string_view type, std::vector<uint64_t> dims,
                               size_t n_bytes) {
        SafetensorsWriter w = norms;
        w.tensor("model.embed_tokens.weight", type, dims, Bytes(n_bytes));
        add_directory(cases, about, std::move(lie), config_with("vocab_size", "4"), w);
    };
    add_directory(cases, about, "no embedding", config_with("vocab_size", "4"), norms);
    embedding("an embedding and nothing else", "F32", {4, 64}, 4 * 64 * 4);
    embedding("an embedding the wrong way round", "F32", {64, 4}, 4 * 64 * 4);
    embedding("an embedding of 5 tokens", "F32", {5, 64}, 5 * 64 * 4);
    embedding("an embedding of 64-bit integers", "I64", {4, 64}, 4 * 64 * 8);
    embedding("an embedding of five dimensions", "F32", {1, 1, 1, 4, 64}, 4 * 64 * 4);
    SafetensorsWriter biased = tiny_weights();
    biased.tensor("model.layers.0.self_attn.q_proj.bias", "F64", {64}, Bytes(64 * 8));
    add_directory(cases, about, "a bias of 64-bit numbers", config_with("vocab_size", "4"), biased);
    SafetensorsWriter scaled = tiny_weights();
    scaled.tensor("model.layers.0.self_attn.q_proj.scale", "F8_E4M3", {64}, Bytes(64));
    add_directory(cases, about, "all that is needed, and scales of 8 bits that nothing reads",
                  config_with("vocab_size", "4"), scaled);
}

}  // namespace

std::vector<HostileFile> hostile_models() {
    Cases cases;
    numbers(cases);
    types(cases);
    words(cases);
    weights(cases);
    directories(cases);
    directory_weights(cases);
    return cases;
}

HostileFile harmless_directory() {
    SafetensorsWriter w = tiny_weights();
    w.tensor("model.layers.0.self_attn.mask", "BOOL", {1, 1, 2, 2}, Bytes(4));
    w.tensor("model.position_ids", "I64", {1, 2}, Bytes(16));
    Cases cases;
    add_directory(cases, "directory: weights", "masks beside the weights",
                  config_with("vocab_size", "4"), w);
    return cases.front();
}

}  // namespace kvik
