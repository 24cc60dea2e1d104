// Every key of a GGUF file that loading reads, in every type that its value fits into: the model and
// its tokenizer are the same. The walk counts what it went through.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "formats/gguf.h"
#include "testing/model_rig.h"

namespace kvik::testing {
namespace {

using Bytes = std::vector<std::byte>;

constexpr GgufType kIntegers[] = {GgufType::u8,  GgufType::i8,  GgufType::u16, GgufType::i16,
                                  GgufType::u32, GgufType::i32, GgufType::u64, GgufType::i64};
constexpr GgufType kReals[] = {GgufType::f32, GgufType::f64};

// A tiny llama with a tokenizer and all keys beside it that one of either kind may have.
GgufWriter speaking_llama() {
    TinyLlama shape;
    shape.vocab_size = 5;
    GgufWriter w = tiny_llama(shape);
    w.set("llama.rope.freq_base", 10000.0f);
    w.set("tokenizer.ggml.model", "llama");
    w.set_strings("tokenizer.ggml.tokens",
                  std::array<std::string, 5>{"<unk>", "<s>", "</s>", "a", "b"});
    w.set_array<float>("tokenizer.ggml.scores", std::array<float, 5>{0, 0, 0, -1, -2});
    w.set_array<int32_t>("tokenizer.ggml.token_type", std::array<int32_t, 5>{2, 3, 3, 1, 1});
    w.set("tokenizer.ggml.unknown_token_id", 0u).set("tokenizer.ggml.bos_token_id", 1u);
    w.set("tokenizer.ggml.eos_token_id", 2u).set("tokenizer.ggml.eot_token_id", 2u);
    w.set("tokenizer.ggml.add_bos_token", true).set("tokenizer.ggml.add_space_prefix", false);
    return w;
}

template <class T>
void append(Bytes& out, T value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    out.insert(out.end(), raw.begin(), raw.end());
}

template <class T>
bool append_as(Bytes& out, double value) {
    if (value != std::trunc(value) && std::is_integral_v<T>) return false;
    if (value < static_cast<double>(std::numeric_limits<T>::lowest()) ||
        value > static_cast<double>(std::numeric_limits<T>::max()))
        return false;
    append(out, static_cast<T>(value));
    return true;
}

bool append_as(Bytes& out, GgufType type, double value) {
    switch (type) {
        case GgufType::u8:
            return append_as<uint8_t>(out, value);
        case GgufType::i8:
            return append_as<int8_t>(out, value);
        case GgufType::u16:
            return append_as<uint16_t>(out, value);
        case GgufType::i16:
            return append_as<int16_t>(out, value);
        case GgufType::u32:
            return append_as<uint32_t>(out, value);
        case GgufType::i32:
            return append_as<int32_t>(out, value);
        case GgufType::u64:
            return append_as<uint64_t>(out, value);
        case GgufType::i64:
            return append_as<int64_t>(out, value);
        case GgufType::f32:
            return append_as<float>(out, value);
        default:
            return append_as<double>(out, value);
    }
}

double number(const GgufValue& value, uint64_t i) {
    const auto load = [&]<class T>(T number) {
        std::memcpy(&number, value.bytes.data() + i * sizeof number, sizeof number);
        return static_cast<double>(number);
    };
    switch (value.type) {
        case GgufType::i32:
            return load(int32_t{});
        case GgufType::u32:
            return load(uint32_t{});
        case GgufType::f32:
            return load(float{});
        default:
            return load(uint8_t{});  // boolean
    }
}

// The payload of the value with its numbers in another type; nothing if one does not fit.
std::optional<Bytes> payload(const GgufValue& value, GgufType type) {
    Bytes out;
    if (value.is_array) {
        append(out, type);
        append(out, value.n_elements);
    }
    for (uint64_t i = 0; i < value.n_elements; ++i)
        if (!append_as(out, type, number(value, i))) return std::nullopt;
    return out;
}

Bytes own_payload(const GgufValue& value) {
    Bytes out;
    if (value.is_array) {
        append(out, value.type);
        append(out, value.n_elements);
    } else if (value.type == GgufType::string) {
        append(out, uint64_t{value.bytes.size()});
    }
    out.insert(out.end(), value.bytes.begin(), value.bytes.end());
    return out;
}

// The file with one key's value in another type.
std::optional<GgufWriter> rewritten(const GgufFile& file, const GgufValue& changed, GgufType type) {
    GgufWriter w;
    for (const GgufValue& value : file.metadata().values()) {
        const bool is_changed = &value == &changed;
        const std::optional<Bytes> bytes =
            is_changed ? payload(value, type) : std::optional(own_payload(value));
        if (!bytes) return std::nullopt;
        const GgufType said = value.is_array ? GgufType::array : is_changed ? type : value.type;
        w.put(value.key, said, *bytes);
    }
    for (const TensorEntry& entry : file.tensors()) {
        const auto dims = std::span(entry.shape.dims).first(entry.shape.n_dims);
        const auto bytes = file.view(entry).bytes;
        w.tensor({.name = entry.name,
                  .type = static_cast<uint32_t>(entry.dtype),
                  .dims = {dims.begin(), dims.end()},
                  .data = {bytes.begin(), bytes.end()}});
    }
    return w;
}

// All that a model is made of.
struct Loaded {
    std::string fingerprint;
    TokenizerSpec tokenizer;

    bool operator==(const Loaded& o) const {
        const TokenizerSpec &a = tokenizer, &b = o.tokenizer;
        return fingerprint == o.fingerprint && a.tokens == b.tokens && a.types == b.types &&
               a.scores == b.scores && a.merges == b.merges && a.bos == b.bos && a.eos == b.eos &&
               a.eot == b.eot && a.unk == b.unk && a.add_bos == b.add_bos &&
               a.space_prefix == b.space_prefix;
    }
};

std::optional<Loaded> loaded(const GgufWriter& writer) {
    const TemporaryFile file(writer);
    ThreadPool pool(1);
    auto model = load_model({file.path, &kScalarKernels, Act::int8, &pool, {}});
    if (!model) {
        ADD_FAILURE() << model.error().message;
        return std::nullopt;
    }
    return Loaded{model->model->spec().fingerprint, std::move(*model->words.tokenizer)};
}

TEST(GgufTypes, every_number_is_read_in_every_type_that_it_fits_into) {
    const Bytes bytes = speaking_llama().bytes();
    const auto file = GgufFile::from_bytes(bytes, "m.gguf");
    ASSERT_TRUE(file) << file.error().message;
    const auto honest = loaded(speaking_llama());
    ASSERT_TRUE(honest);
    uint32_t n_integers = 0, n_reals = 0, n_booleans = 0, n_too_large = 0;
    for (const GgufValue& value : file->metadata().values()) {
        if (value.type == GgufType::string) continue;
        std::vector<GgufType> types(std::begin(kIntegers), std::end(kIntegers));
        if (value.type == GgufType::f32)
            types.insert(types.end(), std::begin(kReals), std::end(kReals));
        uint32_t& n = value.type == GgufType::f32       ? n_reals
                      : value.type == GgufType::boolean ? n_booleans
                                                        : n_integers;
        for (const GgufType type : types) {
            const auto writer = rewritten(*file, value, type);
            if (!writer) {
                ++n_too_large;
                continue;
            }
            SCOPED_TRACE(std::string(value.key) + " as type " +
                         std::to_string(static_cast<uint32_t>(type)));
            EXPECT_EQ(loaded(*writer), honest);
            ++n;
        }
    }
    std::printf("%u integers, %u real numbers, %u booleans in other types; %u do not fit\n",
                n_integers, n_reals, n_booleans, n_too_large);
    EXPECT_GE(n_integers, 80u);
    EXPECT_GE(n_reals, 8u);
    EXPECT_EQ(n_booleans, 16u);
}

TEST(GgufTypes, what_nobody_reads_changes_nothing) {
    const auto honest = loaded(speaking_llama());
    const auto with = [](const auto& change) {
        GgufWriter w = speaking_llama();
        change(w);
        return loaded(w);
    };
    uint32_t n = 0;
    const Bytes zeros(8);
    constexpr size_t kWidths[] = {1, 1, 2, 2, 4, 4, 8, 8};
    for (size_t i = 0; i < std::size(kIntegers); ++i, ++n)
        EXPECT_EQ(with([&](GgufWriter& w) {
                      w.put("x.y", kIntegers[i], std::span(zeros).first(kWidths[i]));
                  }),
                  honest);
    for (uint32_t depth = 1; depth <= 8; ++depth, ++n)
        EXPECT_EQ(with([&](GgufWriter& w) { w.put("x.y", GgufType::array, nested_array(depth)); }),
                  honest);
    for (const size_t length : {size_t{0}, size_t{1} << 20, (size_t{1} << 20) + 1, size_t{5} << 20})
        for (const char byte : {'x', '\xff', '\0'}) {
            EXPECT_EQ(with([&](GgufWriter& w) {
                          w.set("general.description", std::string(length, byte));
                          w.set_strings("x.list",
                                        std::array<std::string, 1>{std::string(length, byte)});
                      }),
                      honest);
            ++n;
        }
    for (const char* key : {"general.url", "general.tags", "tokenizer.huggingface.json"}) {
        EXPECT_EQ(with([&](GgufWriter& w) { w.set(key, "Mod\xe8le"); }), honest);
        ++n;
    }
    EXPECT_EQ(n, 31u);
}

}  // namespace
}  // namespace kvik::testing
