// safetensors files and indices that break a law of the format.
#include <fmt/format.h>

#include <span>
#include <string_view>

#include "testing/hostile_files.h"
#include "testing/patch_bytes.h"
#include "testing/safetensors_writer.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;
using Cases = std::vector<HostileFile>;

constexpr uint64_t kTop = uint64_t{1} << 63;

Bytes raw(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void add(Cases& cases, std::string about, std::string lie, Bytes bytes) {
    cases.push_back(
        {std::move(about), std::move(lie), {{"model.safetensors", std::move(bytes)}}, ""});
}

// A tensor "t" with these fields, and n bytes of data.
Bytes with_tensor(std::string_view fields, size_t n_bytes = 8) {
    return safetensors_bytes(fmt::format(R"({{"t":{{{}}}}})", fields), Bytes(n_bytes));
}

// Two floats "t", and what else the header says.
Bytes with_header(std::string_view more) {
    return safetensors_bytes(
        fmt::format(R"({{"t":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}{}}})", more),
        Bytes(8));
}

Bytes shaped(std::string_view dtype, std::string_view shape) {
    return with_tensor(
        fmt::format(R"("dtype":"{}","shape":[{}],"data_offsets":[0,8])", dtype, shape));
}

Bytes placed(std::string_view offsets) {
    return with_tensor(fmt::format(R"("dtype":"F32","shape":[2],"data_offsets":{})", offsets));
}

Bytes cut(Bytes bytes, size_t n_bytes) {
    bytes.resize(n_bytes);
    return bytes;
}

void headers(Cases& cases) {
    const std::string about = "safetensors: header";
    const Bytes sound = with_header("");
    add(cases, about, "nothing: the file is empty", {});
    add(cases, about, "nothing: it ends inside the length", cut(sound, 7));
    add(cases, about, "nothing: it ends inside the header", cut(sound, 20));
    add(cases, about, "a header of 2^63 bytes", with_bytes_at(sound, 0, kTop));
    add(cases, about, "a header of 2^64 - 1 bytes", with_bytes_at(sound, 0, UINT64_MAX));
    add(cases, about, "a header over 100 MB", with_bytes_at(sound, 0, uint64_t{100'000'001}));
    add(cases, about, "a header of no bytes", with_bytes_at(sound, 0, uint64_t{0}));
    add(cases, about, "a header that is a byte short",
        with_bytes_at(sound, 0, uint64_t{sound.size() - 8 - 8 - 1}));
    add(cases, about, "a header that reaches into the data",
        with_bytes_at(sound, 0, uint64_t{sound.size() - 8 - 4}));
    add(cases, about, "an array for a header", safetensors_bytes("[]"));
    add(cases, about, "no JSON", safetensors_bytes("{'t': 1}"));
    add(cases, about, "a name that is not UTF-8", safetensors_bytes("{\"\xff\":{}}"));
    add(cases, about, "a NUL behind the JSON", safetensors_bytes(std::string_view("{}\0", 3)));
    add(cases, about, "two objects", safetensors_bytes("{}{}"));
    add(cases, about, "a million open brackets",
        safetensors_bytes("{\"t\":" + std::string(1'000'000, '[')));
    add(cases, about, "metadata that is no text", with_header(R"(,"__metadata__":{"a":1})"));
    add(cases, about, "metadata that is a list", with_header(R"(,"__metadata__":[])"));
    add(cases, about, "the same metadata twice", with_header(R"(,"__metadata__":{"a":"","a":""})"));
    add(cases, about, "metadata twice", with_header(R"(,"__metadata__":{},"__metadata__":{})"));
}

void tensors(Cases& cases) {
    const std::string about = "safetensors: tensors";
    add(cases, about, "no name", with_header(R"(,"":{})"));
    add(cases, about, "a name over 1 MiB",
        safetensors_bytes("{\"" + std::string((1 << 20) + 1, 'n') + "\":{}}"));
    add(cases, about, "a name that would clear the screen", with_header(R"(,"a\n\u001b[2J":{})"));
    add(cases, about, "the same name twice",
        with_header(R"(,"\u0074":{"dtype":"F32","shape":[0],"data_offsets":[8,8]})"));
    add(cases, about, "a number for a tensor", with_header(R"(,"u":3)"));
    add(cases, about, "a list for a tensor", with_header(R"(,"u":[])"));
    add(cases, about, "no dtype", with_tensor(R"("shape":[2],"data_offsets":[0,8])"));
    add(cases, about, "no shape", with_tensor(R"("dtype":"F32","data_offsets":[0,8])"));
    add(cases, about, "no data_offsets", with_tensor(R"("dtype":"F32","shape":[2])"));
    add(cases, about, "a field of its own",
        with_tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"stride":[1])"));
    add(cases, about, "a shape twice",
        with_tensor(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])"));
    add(cases, about, "a dtype that is a number",
        with_tensor(R"("dtype":0,"shape":[2],"data_offsets":[0,8])"));
    add(cases, about, "a shape that is a number",
        with_tensor(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"));
    add(cases, about, "a dimension of -2", shaped("F32", "-2"));
    add(cases, about, "a dimension of 2.0", shaped("F32", "2.0"));
    add(cases, about, "a dimension of 2^64", shaped("F32", "18446744073709551616"));
    add(cases, about, "a dimension that is text", shaped("F32", "\"2\""));
    add(cases, about, "a shape in a shape", shaped("F32", "[2]"));
    add(cases, about, "2^32 rows of 2^32: the product wraps to 0",
        shaped("F32", "4294967296,4294967296"));
    add(cases, about, "2^62 numbers of 4 bytes: the size wraps to 0",
        shaped("F32", "4611686018427387904"));
    add(cases, about, "2^63 numbers", shaped("F16", "9223372036854775808"));
    add(cases, about, "3 numbers in 8 bytes", shaped("F32", "3"));
    add(cases, about, "8 bytes of no numbers", shaped("F32", "2,0"));
    add(cases, about, "5 numbers of 4 bits in 8 bytes", shaped("F4", "5"));
}

void places(Cases& cases) {
    const std::string about = "safetensors: places";
    const auto two = [](std::string_view a, std::string_view b, size_t n_bytes) {
        const std::string_view form = R"("dtype":"F32","shape":[2],"data_offsets":)";
        return safetensors_bytes(fmt::format(R"({{"a":{{{}{}}},"b":{{{}{}}}}})", form, a, form, b),
                                 Bytes(n_bytes));
    };
    add(cases, about, "one offset", placed("[0]"));
    add(cases, about, "three offsets", placed("[0,8,8]"));
    add(cases, about, "an offset of -8", placed("[-8,0]"));
    add(cases, about, "an offset that is text", placed(R"(["0","8"])"));
    add(cases, about, "an end before the beginning", placed("[8,0]"));
    add(cases, about, "data behind the end", placed("[8,16]"));
    add(cases, about, "data up to 2^64 - 1", placed("[0,18446744073709551615]"));
    add(cases, about, "data from 2^64 - 8 on",
        placed("[18446744073709551608,18446744073709551615]"));
    add(cases, about, "nothing: it ends inside the tensor data",
        cut(with_header(""), with_header("").size() - 1));
    add(cases, about, "two tensors in one place", two("[0,8]", "[0,8]", 8));
    add(cases, about, "a tensor that reaches into the next one", two("[0,8]", "[4,12]", 12));
    add(cases, about, "a hole before the first tensor", two("[8,16]", "[16,24]", 24));
    add(cases, about, "a hole between two tensors", two("[0,8]", "[12,20]", 20));
    add(cases, about, "data that belongs to no tensor", two("[0,8]", "[8,16]", 17));
}

constexpr std::string_view kShardName = "model-00001-of-00002.safetensors";

Bytes shard(std::string_view name) {
    return safetensors_bytes(
        fmt::format(R"({{"{}":{{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}}})", name),
        Bytes(8));
}

// The index as it is given, and two shards, of a tensor "a" and a tensor "b".
void add_index(Cases& cases, std::string lie, std::string_view index) {
    cases.push_back({"safetensors: index",
                     std::move(lie),
                     {{"model.safetensors.index.json", raw(index)},
                      {std::string(kShardName), shard("a")},
                      {"model-00002-of-00002.safetensors", shard("b")}},
                     ""});
}

void add_map(Cases& cases, std::string lie, std::string_view map) {
    add_index(cases, std::move(lie), fmt::format(R"({{"weight_map":{{{}}}}})", map));
}

void indices(Cases& cases) {
    cases.push_back({"safetensors: index", "nothing: there are no weights", {}, ""});
    add_index(cases, "no JSON", "{");
    add_index(cases, "no weight_map", "{}");
    add_index(cases, "a list for a weight_map", R"({"weight_map":["a"]})");
    add_index(cases, "a million open brackets", std::string(1'000'000, '['));
    add_index(cases, "more than 16 MiB", std::string((16 << 20) + 1, ' '));
    add_map(cases, "the same tensor twice", R"("a":"x","a":"x")");
    add_map(cases, "a tensor in file number 1", R"("a":1)");
    add_map(cases, "a file in another folder", R"("a":"../model.safetensors")");
    add_map(cases, "a file by its absolute path", R"("a":"/etc/passwd")");
    add_map(cases, "the folder itself", R"("a":".")");
    add_map(cases, "the folder above", R"("a":"..")");
    add_map(cases, "a file without a name", R"("a":"")");
    add_map(cases, "a file whose name has a NUL", R"("a":"model.safetensors\u0000.txt")");
    add_map(cases, "a file that is not there", R"("a":"model-9.safetensors")");
    add_map(cases, "a file that is no safetensors file", R"("a":"model.safetensors.index.json")");
    add_map(cases, "two tensors in one file, and it has one",
            R"("a":"model-00001-of-00002.safetensors","b":"model-00001-of-00002.safetensors")");
    add_map(cases, "a tensor in a file that does not have it",
            R"("a":"model-00001-of-00002.safetensors","c":"model-00001-of-00002.safetensors")");
    add_map(cases, "two long names that cannot be printed",
            fmt::format(R"("{}":"{}")", std::string(64, '\x7f'), std::string(256, '\x7f')));
    add_map(cases, "two files the wrong way round",
            R"("a":"model-00002-of-00002.safetensors","b":"model-00001-of-00002.safetensors")");
    add_map(cases, "no tensor of a file but another", R"("x":"model-00002-of-00002.safetensors")");
}

void directories(Cases& cases) {
    cases.push_back({"safetensors: directory",
                     "one of two parts and no index",
                     {{std::string(kShardName), shard("a")}},
                     ""});
    cases.push_back({"safetensors: directory",
                     "two files that both have a tensor, and no index",
                     {{"x.safetensors", shard("a")}, {"y.safetensors", shard("a")}},
                     ""});
    cases.push_back({"safetensors: directory",
                     "parts of two models and no index",
                     {{"x-00001-of-00001.safetensors", shard("a")},
                      {"y-00001-of-00001.safetensors", shard("b")}},
                     ""});
    cases.push_back(
        {"safetensors: directory",
         "two indices",
         {{"x.safetensors.index.json", raw("{}")}, {"y.safetensors.index.json", raw("{}")}},
         ""});
    cases.push_back({"safetensors: directory",
                     "an adapter alone",
                     {{"adapter_model.safetensors", shard("a")}},
                     ""});
    cases.push_back({"safetensors: directory",
                     "weights in Python's own format",
                     {{"pytorch_model.bin", raw("x")}},
                     ""});
    cases.push_back({"safetensors: directory", "a GGUF file alone", {{"m.gguf", raw("GGUF")}}, ""});
}

}  // namespace

std::vector<HostileFile> hostile_safetensors() {
    Cases cases;
    headers(cases);
    tensors(cases);
    places(cases);
    indices(cases);
    directories(cases);
    return cases;
}

}  // namespace kvik
