// Lexer: template source -> tokens, with blocks trimmed and stripped as chat templates expect.
//
// Trimming  a block tag or comment eats the line end after it and the blanks before it when it
//           stands first on its line; "-" eats all blanks on its side, "+" none; one line end at
//           the end of the source is dropped. "\r\n" and "\r" are line ends like "\n".
// Owner     the normalised source; token texts are views into it.
// Cost      linear; the source is at most 256 KiB.
// Errors    an unfinished tag, string or comment, or a character no token starts with, with its
//           line and column.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/budget.h"

namespace kvik::jinja {

struct Position {
    uint32_t line = 1;
    uint32_t column = 1;  // in characters
};

// An error of the source, in words that begin with where it is.
tl::unexpected<Error> fail_at(Position at, ErrorKind kind, std::string_view message);

enum class TokenKind : uint8_t {
    text,
    output_begin,
    output_end,
    block_begin,
    block_end,
    name,
    string,  // with its quotes and escapes
    integer,
    real,
    symbol,
    end,
};

struct Token {
    TokenKind kind = TokenKind::end;
    Position at;
    std::string_view text;
};

struct Tokens {
    std::unique_ptr<const std::string> source;
    std::vector<Token> list;  // the last one is the end
};

Result<Tokens> tokenize(std::string_view source, const Limits& limits);

}  // namespace kvik::jinja
