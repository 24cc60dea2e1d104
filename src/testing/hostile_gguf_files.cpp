// GGUF files that break a law of the container.
#include <array>

#include "testing/gguf_writer.h"
#include "testing/hostile_files.h"
#include "testing/patch_bytes.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;
using Cases = std::vector<HostileFile>;

constexpr uint64_t kTop = uint64_t{1} << 63;

void add(Cases& cases, std::string about, std::string lie, Bytes bytes) {
    cases.push_back({std::move(about), std::move(lie), {{"m.gguf", std::move(bytes)}}, "m.gguf"});
}

Bytes cut(Bytes bytes, size_t n_bytes) {
    bytes.resize(n_bytes);
    return bytes;
}

// One f32 tensor "t" of {2, 4}; its fields follow its name.
Bytes one_tensor() {
    return GgufWriter().random_tensor("t", DType::f32, {2, 4}, 1).bytes();
}
constexpr size_t kTensorName = 24;
constexpr size_t kNDims = kTensorName + 8 + 1;
constexpr size_t kDims = kNDims + 4;  // fastest first: 4, then 2
constexpr size_t kType = kDims + 2 * 8;
constexpr size_t kOffset = kType + 4;

void header(Cases& cases) {
    const std::string about = "GGUF: header";
    add(cases, about, "nothing: the file is empty", {});
    add(cases, about, "nothing: it ends inside the magic", cut(one_tensor(), 3));
    add(cases, about, "nothing: it ends inside the counts", cut(one_tensor(), 15));
    add(cases, about, "the magic of a ZIP archive", with_bytes_at(one_tensor(), 0, 0x04034b50u));
    add(cases, about, "version 1", GgufWriter(1).bytes());
    add(cases, about, "version 99", GgufWriter(99).bytes());
    add(cases, about, "version 3 in big-endian order", with_bytes_at(one_tensor(), 4, 0x03000000u));
    add(cases, about, "5 tensors where one is", with_bytes_at(one_tensor(), 8, uint64_t{5}));
    add(cases, about, "2^63 tensors", with_bytes_at(one_tensor(), 8, kTop));
    add(cases, about, "2^64 - 1 tensors", with_bytes_at(one_tensor(), 8, UINT64_MAX));
    add(cases, about, "1000 keys where none is", with_bytes_at(one_tensor(), 16, uint64_t{1000}));
    add(cases, about, "2^64 - 1 keys", with_bytes_at(one_tensor(), 16, UINT64_MAX));
}

void keys(Cases& cases) {
    const std::string about = "GGUF: metadata";
    const Bytes number = GgufWriter().set("key", uint32_t{1}).bytes();
    const Bytes text = GgufWriter().set("key", "text").bytes();
    add(cases, about, "nothing: it ends inside a key", cut(number, 34));
    add(cases, about, "nothing: it ends inside a number", cut(number, number.size() - 1));
    add(cases, about, "nothing: it ends inside a string", cut(text, text.size() - 1));
    add(cases, about, "a key of 2^63 bytes", with_bytes_at(number, 24, kTop));
    add(cases, about, "a key of 64 KiB",
        GgufWriter().set(std::string(65536, 'k'), uint32_t{1}).bytes());
    add(cases, about, "a key without a name", GgufWriter().set("", uint32_t{1}).bytes());
    add(cases, about, "a key that is not UTF-8", GgufWriter().set("k\xff", uint32_t{1}).bytes());
    add(cases, about, "the same key twice",
        GgufWriter().set("k", uint32_t{1}).set("k", uint32_t{2}).bytes());
    add(cases, about, "a value of type 13",
        GgufWriter().put("k", static_cast<GgufType>(13), {}).bytes());
    add(cases, about, "a string of 2^64 - 1 bytes", with_bytes_at(text, 39, UINT64_MAX));
    add(cases, about, "a string of 5 bytes, and 4 remain", with_bytes_at(text, 39, uint64_t{5}));
}

void arrays(Cases& cases) {
    const std::string about = "GGUF: arrays";
    const Bytes numbers =
        GgufWriter().set_array<uint64_t>("k", std::array<uint64_t, 2>{1, 2}).bytes();
    const Bytes texts = GgufWriter().set_strings("k", std::array<std::string, 2>{"a", "b"}).bytes();
    add(cases, about, "2^61 numbers of 8 bytes: their size wraps to 0",
        with_bytes_at(numbers, 41, uint64_t{1} << 61));
    add(cases, about, "2^63 strings", with_bytes_at(texts, 41, kTop));
    add(cases, about, "3 strings, and 2 remain", with_bytes_at(texts, 41, uint64_t{3}));
    add(cases, about, "a string of 2^64 - 7 bytes inside",
        with_bytes_at(texts, 49, UINT64_MAX - 6));
    add(cases, about, "numbers that say they are arrays",
        with_bytes_at(numbers, 37, GgufType::array));
    add(cases, about, "arrays nested 9 deep",
        GgufWriter().put("k", GgufType::array, nested_array(9)).bytes());
    add(cases, about, "2^60 arrays inside an array",
        with_bytes_at(GgufWriter().put("k", GgufType::array, nested_array(2)).bytes(), 41,
                      uint64_t{1} << 60));
    add(cases, about, "2^62 numbers in an array inside an array",
        with_bytes_at(GgufWriter().put("k", GgufType::array, nested_array(2)).bytes(), 53,
                      uint64_t{1} << 62));
    add(cases, about, "an array inside an array that ends too early",
        cut(GgufWriter().put("k", GgufType::array, nested_array(2)).bytes(), 63));
    add(cases, about, "elements of type 13", with_bytes_at(numbers, 37, uint32_t{13}));
}

void alignments(Cases& cases) {
    const std::string about = "GGUF: alignment";
    for (const uint32_t alignment : {0u, 4u, 24u, 1u << 31})
        add(cases, about, "an alignment of " + std::to_string(alignment),
            GgufWriter().set("general.alignment", alignment).bytes());
    add(cases, about, "an alignment of -32",
        GgufWriter().set("general.alignment", int32_t{-32}).bytes());
    add(cases, about, "an alignment that is a string",
        GgufWriter().set("general.alignment", "32").bytes());
    add(cases, about, "nothing: it ends before the tensor data begins",
        cut(one_tensor(), kOffset + 9));
}

Bytes named(std::string_view name) {
    return GgufWriter().random_tensor(name, DType::f32, {4}, 1).bytes();
}

Bytes shaped(uint64_t fastest, uint64_t next) {
    return with_bytes_at(with_bytes_at(one_tensor(), kDims, fastest), kDims + 8, next);
}

void tensors(Cases& cases) {
    const std::string about = "GGUF: tensors";
    add(cases, about, "nothing: it ends inside a shape", cut(one_tensor(), kDims + 5));
    add(cases, about, "a name of 2^64 - 1 bytes",
        with_bytes_at(one_tensor(), kTensorName, UINT64_MAX));
    add(cases, about, "no name", named(""));
    add(cases, about, "a name that is not UTF-8", named("\x80"));
    add(cases, about, "a name that would clear the screen",
        with_bytes_at(named("a\n\x1b[2J"), kTensorName + 8 + 6 + 4 + 8, uint32_t{99}));
    add(cases, about, "the same name twice",
        GgufWriter()
            .random_tensor("t", DType::f32, {4}, 1)
            .random_tensor("t", DType::f32, {4}, 2)
            .bytes());
    add(cases, about, "no dimension", with_bytes_at(one_tensor(), kNDims, 0u));
    add(cases, about, "5 dimensions", with_bytes_at(one_tensor(), kNDims, 5u));
    add(cases, about, "2^32 - 1 dimensions", with_bytes_at(one_tensor(), kNDims, UINT32_MAX));
    add(cases, about, "rows of no elements", with_bytes_at(one_tensor(), kDims, uint64_t{0}));
    add(cases, about, "no rows", with_bytes_at(one_tensor(), kDims + 8, uint64_t{0}));
    add(cases, about, "2^32 rows of 2^32: the product wraps to 0",
        shaped(uint64_t{1} << 32, uint64_t{1} << 32));
    add(cases, about, "2^63 rows of 3: the product wraps", shaped(3, kTop));
    add(cases, about, "2^62 numbers of 4 bytes: the size wraps to 0", shaped(uint64_t{1} << 62, 1));
    add(cases, about, "rows of 2^63 elements", shaped(kTop, 1));
    add(cases, about, "rows of 33 in groups of 32",
        GgufWriter().tensor({"t", 8, {32, 33}, Bytes(34 * 32)}).bytes());
    add(cases, about, "type 23, which kvik does not read", with_bytes_at(one_tensor(), kType, 23u));
    add(cases, about, "type 1000, which nobody gave out",
        with_bytes_at(one_tensor(), kType, 1000u));
    add(cases, about, "data at an unaligned offset",
        with_bytes_at(one_tensor(), kOffset, uint64_t{8}));
    add(cases, about, "data behind the end", with_bytes_at(one_tensor(), kOffset, uint64_t{32}));
    add(cases, about, "data at 2^64 - 32: its end wraps to 0",
        with_bytes_at(one_tensor(), kOffset, UINT64_MAX - 31));
    add(cases, about, "one row more than the data has",
        with_bytes_at(one_tensor(), kDims + 8, uint64_t{3}));
    add(cases, about, "nothing: it ends inside the tensor data",
        cut(one_tensor(), one_tensor().size() - 1));
    add(cases, about, "two tensors in one place",
        GgufWriter()
            .tensor({"a", 0, {8}, Bytes(32), 0})
            .tensor({"b", 0, {8}, Bytes(32), 0})
            .bytes());
    add(cases, about, "a tensor that reaches into the next one",
        GgufWriter()
            .tensor({"a", 0, {16}, Bytes(64), 0})
            .tensor({"b", 0, {8}, Bytes(32), 32})
            .bytes());
}

// Part `part` of `n_parts`, with one tensor.
Bytes split_part(uint32_t part, uint32_t n_parts, std::string_view tensor, uint32_t n_tensors) {
    return GgufWriter()
        .set("split.no", static_cast<uint16_t>(part))
        .set("split.count", static_cast<uint16_t>(n_parts))
        .set("split.tensors.count", static_cast<int32_t>(n_tensors))
        .random_tensor(tensor, DType::f32, {4}, 1)
        .bytes();
}

void splits(Cases& cases) {
    const auto add_split = [&](std::string lie, std::vector<HostileFile::Part> parts) {
        const std::string open = parts[0].name;
        cases.push_back({"GGUF: split models", std::move(lie), std::move(parts), open});
    };
    const std::string first = "m-00001-of-00002.gguf", second = "m-00002-of-00002.gguf";
    add_split("part 1 of 2 alone", {{first, split_part(0, 2, "a", 2)}});
    add_split("part 2 of 2 alone", {{second, split_part(1, 2, "b", 2)}});
    add_split("part 1 of 2 by another name", {{"m.gguf", split_part(0, 2, "a", 2)}});
    add_split("part 3 of 2", {{first, split_part(2, 2, "a", 2)}});
    add_split("65535 parts", {{first, split_part(0, 65535, "a", 2)}});
    add_split("part 1 of 2 twice",
              {{first, split_part(0, 2, "a", 2)}, {second, split_part(0, 2, "b", 2)}});
    add_split("a part of another number of parts",
              {{first, split_part(0, 2, "a", 2)}, {second, split_part(1, 3, "b", 2)}});
    add_split("a tensor in two parts",
              {{first, split_part(0, 2, "a", 2)}, {second, split_part(1, 2, "a", 2)}});
    add_split("3 tensors, and the parts have 2",
              {{first, split_part(0, 2, "a", 3)}, {second, split_part(1, 2, "b", 3)}});
    add_split("a part that is cut",
              {{first, split_part(0, 2, "a", 2)}, {second, cut(split_part(1, 2, "b", 2), 100)}});
}

}  // namespace

std::vector<HostileFile> hostile_ggufs() {
    Cases cases;
    header(cases);
    keys(cases);
    arrays(cases);
    alignments(cases);
    tensors(cases);
    splits(cases);
    return cases;
}

}  // namespace kvik
