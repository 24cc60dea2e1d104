// TokenCursor: where a parser stands in the tokens, and how deeply nested it is there.
//
// Errors    what was expected and what stands there; nesting past the limit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/jinja/lexer.h"

namespace kvik::jinja {

class TokenCursor {
  public:
    TokenCursor(std::span<const Token> tokens, uint32_t depth_limit)
        : tokens_(tokens), depth_limit_(depth_limit) {}

    const Token& now() const { return tokens_[at_]; }
    const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
    const Token& advance();  // gives the token it leaves; stays on the end
    bool is(TokenKind kind) const { return now().kind == kind; }
    bool is_symbol(std::string_view spelling) const {
        return is(now(), TokenKind::symbol, spelling);
    }
    bool is_word(std::string_view spelling) const { return is(now(), TokenKind::name, spelling); }
    static bool is(const Token& token, TokenKind kind, std::string_view spelling) {
        return token.kind == kind && token.text == spelling;
    }
    bool skip_symbol(std::string_view spelling);
    bool skip_word(std::string_view spelling);
    Result<void> expect_symbol(std::string_view spelling);
    Result<void> expect_word(std::string_view spelling);
    Result<void> expect(TokenKind kind, std::string_view what);
    Result<std::string> expect_name(std::string_view what);
    tl::unexpected<Error> expected(std::string_view what) const;
    tl::unexpected<Error> error(std::string_view message) const;

    // One level of nesting for as long as it lives.
    class Level {
      public:
        explicit Level(TokenCursor& cursor) : cursor_(cursor) { ++cursor_.depth_; }
        ~Level() { --cursor_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        Result<void> check() const;

      private:
        TokenCursor& cursor_;
    };

  private:
    std::span<const Token> tokens_;
    size_t at_ = 0;
    uint32_t depth_ = 0;
    uint32_t depth_limit_;
};

}  // namespace kvik::jinja
