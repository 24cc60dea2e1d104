// Any bytes as the lines of `tokenize --jsonl` and `--decode --jsonl`: no byte is lost between
// lines; a line is refused with one line, or is a string whose ids decode to it, or a list of ids
// whose text comes out as JSON.
//
// Shape   the input; seeds lie in tests/corpus/jsonl.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/ids.h"
#include "cli/json.h"
#include "cli/line_reader.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

namespace kvik::cli {
namespace {

std::unique_ptr<Tokenizer> bytes_and_a_control() {
    TokenizerSpec spec;
    spec.model = "llama";
    for (int byte = 0; byte < 256; ++byte) {
        constexpr char kHex[] = "0123456789ABCDEF";
        spec.tokens.push_back(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
        spec.types.push_back(TokenType::byte);
    }
    spec.tokens.emplace_back("<|im_end|>");
    spec.types.push_back(TokenType::control);
    spec.scores.resize(spec.tokens.size());
    auto made = make_tokenizer(std::move(spec));
    KVIK_CHECK(made.has_value(), "the tokenizer is sound");
    return std::move(*made);
}

std::vector<std::string> lines_of(std::string_view input) {
    const int fd = ::memfd_create("lines", MFD_CLOEXEC);
    KVIK_CHECK(fd >= 0, "a file in memory can be made");
    KVIK_CHECK(::write(fd, input.data(), input.size()) == static_cast<ssize_t>(input.size()),
               "it takes the input");
    ::lseek(fd, 0, SEEK_SET);
    std::vector<std::string> lines;
    LineReader reader(fd, nullptr);
    std::string line;
    for (;;) {
        const auto got = reader.next(line);
        KVIK_CHECK(got.has_value(), "a short file is read to its end");
        if (*got == LineReader::Got::end) break;
        lines.push_back(line);
    }
    ::close(fd);
    return lines;
}

// The lines joined are the input, but for "\r" before "\n" and at the end.
void check_lines(std::string_view input, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        KVIK_CHECK(input.starts_with(line), "a line is what stands there");
        input.remove_prefix(line.size());
        if (input.starts_with('\r')) input.remove_prefix(1);
        if (input.starts_with('\n')) input.remove_prefix(1);
    }
    KVIK_CHECK(input.empty(), "every byte lies in a line");
}

void check_error(const Error& error) {
    KVIK_CHECK(error.message.starts_with("the line"), "an error names its line");
    KVIK_CHECK(error.message.find('\n') == std::string::npos, "an error is one line");
    KVIK_CHECK(error.message.size() < 200, "an error is short");
}

void check_string(const Tokenizer& tokenizer, const std::string& text) {
    const std::vector<TokenId> ids = tokenizer.encode(text, Specials::as_text);
    const auto back = parse_json_ids(to_line(ids), "the line");
    KVIK_CHECK(back.has_value() && *back == ids, "ids written are read again");
    // U+2581 stands for a space in this vocabulary.
    if (text.find("\xE2\x96\x81") != std::string::npos) return;
    KVIK_CHECK(tokenizer.decode(ids) == text, "a string's ids are its text");
}

void check_ids(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
    std::vector<TokenId> known;
    for (const TokenId id : ids) {
        KVIK_CHECK(id >= 0, "an id is not negative");
        known.push_back(id % static_cast<TokenId>(tokenizer.n_tokens()));
    }
    const std::string text = tokenizer.decode(known);
    KVIK_CHECK(utf8_valid_prefix(text) == text.size(), "a decoded text is UTF-8");
    const auto back = parse_json(to_line(text), "the line");
    KVIK_CHECK(back.has_value() && back->get<std::string>() == text,
               "texts written are read again");
}

}  // namespace
}  // namespace kvik::cli

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
    using namespace kvik::cli;
    static const auto tokenizer = bytes_and_a_control();
    const std::string_view input(reinterpret_cast<const char*>(data), n_bytes);
    const std::vector<std::string> lines = lines_of(input);
    check_lines(input, lines);
    for (const std::string& line : lines) {
        const auto value = parse_json(line, "the line");
        if (!value) check_error(value.error());
        if (value && value->is_string()) check_string(*tokenizer, *value);
        const auto ids = parse_json_ids(line, "the line");
        if (ids) {
            check_ids(*tokenizer, *ids);
        } else {
            check_error(ids.error());
        }
    }
    return 0;
}
