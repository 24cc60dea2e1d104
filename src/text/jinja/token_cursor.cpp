#include "text/jinja/token_cursor.h"

#include <fmt/format.h>

namespace kvik::jinja {
namespace {

std::string named(const Token& token) {
    switch (token.kind) {
        case TokenKind::text:
            return "text";
        case TokenKind::end:
            return "the end of the template";
        case TokenKind::output_end:
            return "'}}'";
        case TokenKind::block_end:
            return "'%}'";
        default:
            return fmt::format("'{}'", token.text);
    }
}

}  // namespace

const Token& TokenCursor::advance() {
    const Token& left = now();
    if (at_ + 1 < tokens_.size()) ++at_;
    return left;
}

bool TokenCursor::skip_symbol(std::string_view spelling) {
    if (!is_symbol(spelling)) return false;
    advance();
    return true;
}

bool TokenCursor::skip_word(std::string_view spelling) {
    if (!is_word(spelling)) return false;
    advance();
    return true;
}

Result<void> TokenCursor::expect_symbol(std::string_view spelling) {
    if (!skip_symbol(spelling)) return expected(fmt::format("'{}'", spelling));
    return {};
}

Result<void> TokenCursor::expect_word(std::string_view spelling) {
    if (!skip_word(spelling)) return expected(fmt::format("'{}'", spelling));
    return {};
}

Result<void> TokenCursor::expect(TokenKind kind, std::string_view what) {
    if (!is(kind)) return expected(what);
    advance();
    return {};
}

Result<std::string> TokenCursor::expect_name(std::string_view what) {
    if (!is(TokenKind::name)) return expected(what);
    return std::string(advance().text);
}

tl::unexpected<Error> TokenCursor::expected(std::string_view what) const {
    return error(fmt::format("expected {}, found {}", what, named(now())));
}

tl::unexpected<Error> TokenCursor::error(std::string_view message) const {
    return fail_at(now().at, ErrorKind::file, message);
}

Result<void> TokenCursor::Level::check() const {
    if (cursor_.depth_ <= cursor_.depth_limit_) return {};
    return cursor_.error(fmt::format("nested deeper than {}", cursor_.depth_limit_));
}

}  // namespace kvik::jinja
