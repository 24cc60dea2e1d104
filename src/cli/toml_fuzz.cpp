// Any bytes as a configuration file: refused with one line that names file and line, or read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/toml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace kvik;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto read = cli::read_toml(text, "fuzz");
    if (!read) {
        const std::string& message = read.error().message;
        const auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
        KVIK_CHECK(std::none_of(message.begin(), message.end(), is_control),
                   "an error is one line");
        KVIK_CHECK(message.size() < 600, "an error is not long");
        KVIK_CHECK(message.starts_with("fuzz:"), "an error names the file");
        return 0;
    }
    KVIK_CHECK(std::is_sorted(read->begin(), read->end(),
                              [](const auto& a, const auto& b) { return a.line < b.line; }),
               "entries are in the order of their lines");
    return 0;
}
