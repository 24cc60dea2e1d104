// Any bytes as a GGUF file: refused with one line, or read to the last field without a fault.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/check.h"
#include "formats/gguf.h"
#include "model/gguf_config.h"
#include "model/gguf_tokenizer.h"
#include "text/tokenizer.h"

namespace kvik {
namespace {

void check_error(const Error& error) {
    const std::string& message = error.message;
    // A token is shown as it is where it can be.
    const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
    KVIK_CHECK(std::none_of(message.begin(), message.end(), is_control), "an error is one line");
    KVIK_CHECK(message.size() < 500, "an error is not long");
    KVIK_CHECK(message.starts_with("fuzz: "), "an error names the file");
    KVIK_CHECK(error.kind == ErrorKind::file || error.kind == ErrorKind::unsupported,
               "what a file says wrong is the file's error");
}

template <class T>
void check_result(const Result<T>& result) {
    if (!result) check_error(result.error());
}

// Every byte that an accepted file promises can be read, and every typed question answered.
void read_all(const GgufFile& file) {
    uint64_t sum = 0;
    for (const TensorEntry& entry : file.tensors()) {
        KVIK_CHECK(file.find(entry.name) == &entry, "a tensor is found by its name");
        for (const std::byte b : file.view(entry).bytes) sum += static_cast<uint64_t>(b);
    }
    const GgufMetadata& metadata = file.metadata();
    for (const GgufValue& value : metadata.values()) {
        KVIK_CHECK(metadata.find(value.key) == &value, "a value is found by its key");
        check_result(metadata.find_integer(value.key, {1, 100}));
        check_result(metadata.find_real(value.key));
        check_result(metadata.find_bool(value.key));
        check_result(metadata.find_string(value.key));
        check_result(metadata.find_i32s(value.key));
        check_result(metadata.find_reals(value.key));
        static_cast<void>(metadata.find_label(value.key));
        const auto strings = metadata.find_strings(value.key);
        check_result(strings);
        if (strings && *strings)
            for (const std::string_view text : **strings)
                for (const char c : text) sum += static_cast<uint8_t>(c);
    }
    volatile uint64_t sink = sum;
    static_cast<void>(sink);
}

}  // namespace
}  // namespace kvik

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
    using namespace kvik;
    const auto file = GgufFile::from_bytes(std::as_bytes(std::span(data, n_bytes)), "fuzz");
    check_result(file);
    if (!file) return 0;
    read_all(*file);
    check_result(config_from_gguf(*file));
    auto spec = tokenizer_from_gguf(file->metadata());
    check_result(spec);
    if (spec && *spec) check_result(make_tokenizer(std::move(**spec)));
    check_result(chat_templates_from_gguf(file->metadata()));
    return 0;
}
