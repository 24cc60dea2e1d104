#include "text/jinja/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "text/jinja/expression_parser.h"

namespace kvik::jinja {
namespace {

using Words = std::span<const std::string_view>;

class Parser {
  public:
    Parser(const Tokens& tokens, const Limits& limits)
        : cursor_(tokens.list, limits.depth), expressions_(cursor_, symbols_) {}

    Result<Program> program();

  private:
    // A tag word and what parses the rest of its statement.
    struct Tag {
        std::string_view word;
        Result<Stmt> (Parser::*parse)(Position at);
    };
    static std::span<const Tag> tags();

    // Statements up to a tag that opens with one of `ends`; the cursor then stands behind that
    // word, which is given.
    struct Block {
        Body body;
        std::string_view end;
    };
    Result<Block> block(Words ends);
    Result<Body> block_of(std::string_view end);  // closed by one tag without more
    Result<Stmt> statement();
    Result<void> end_tag();

    Result<Stmt> if_tag(Position at);
    Result<Stmt> for_tag(Position at);
    Result<Stmt> set_tag(Position at);
    Result<Stmt> filter_tag(Position at);
    Result<Stmt> with_tag(Position at);
    Result<Stmt> macro_tag(Position at);
    Result<Stmt> call_tag(Position at);
    Result<Stmt> generation_tag(Position at);
    Result<Stmt> break_tag(Position at);
    Result<Stmt> continue_tag(Position at);
    Result<Target> target();
    Result<Target::Part> target_part();
    Result<void> signature(MacroStmt& macro);
    MacroStmt::Parameter parameter(std::string_view name);

    SymbolTable symbols_;
    TokenCursor cursor_;
    ExpressionParser expressions_;
    uint32_t n_loops_ = 0;  // around the cursor, inside the innermost macro
};

Result<Program> Parser::program() {
    Program out;
    out.loop = symbols_.of("loop");
    out.caller = symbols_.of("caller");
    KVIK_TRY(Block all, block({}));
    out.body = std::move(all.body);
    out.symbols = std::move(symbols_).names();
    return out;
}

Result<void> Parser::end_tag() {
    return cursor_.expect(TokenKind::block_end, "'%}'");
}

Result<Parser::Block> Parser::block(Words ends) {
    const TokenCursor::Level level(cursor_);
    KVIK_TRY_VOID(level.check());
    Block out;
    while (true) {
        const Token& token = cursor_.now();
        if (token.kind == TokenKind::end) {
            if (ends.empty()) return out;
            return cursor_.expected(fmt::format("'{{% {} %}}'", ends.back()));
        }
        cursor_.advance();
        if (token.kind == TokenKind::text) {
            out.body.push_back({token.at, TextStmt{make_str(token.text)}});
        } else if (token.kind == TokenKind::output_begin) {
            KVIK_TRY(ExprPtr value, expressions_.tuple());
            KVIK_TRY_VOID(cursor_.expect(TokenKind::output_end, "'}}'"));
            out.body.push_back({token.at, OutputStmt{std::move(value)}});
        } else {
            const std::string_view word = cursor_.now().text;
            if (cursor_.is(TokenKind::name) &&
                std::find(ends.begin(), ends.end(), word) != ends.end()) {
                cursor_.advance();
                out.end = word;
                return out;
            }
            KVIK_TRY(Stmt made, statement());
            out.body.push_back(std::move(made));
        }
    }
}

Result<Body> Parser::block_of(std::string_view end) {
    KVIK_TRY_VOID(end_tag());
    KVIK_TRY(Block made, block({&end, 1}));
    KVIK_TRY_VOID(end_tag());
    return std::move(made.body);
}

std::span<const Parser::Tag> Parser::tags() {
    static constexpr Tag kTags[] = {
        {"break", &Parser::break_tag},
        {"call", &Parser::call_tag},
        {"continue", &Parser::continue_tag},
        {"filter", &Parser::filter_tag},
        {"for", &Parser::for_tag},
        {"generation", &Parser::generation_tag},
        {"if", &Parser::if_tag},
        {"macro", &Parser::macro_tag},
        {"set", &Parser::set_tag},
        {"with", &Parser::with_tag},
    };
    return kTags;
}

Result<Stmt> Parser::statement() {
    if (!cursor_.is(TokenKind::name)) return cursor_.expected("a tag's name");
    for (const Tag& tag : tags()) {
        if (cursor_.is_word(tag.word)) return (this->*tag.parse)(cursor_.advance().at);
    }
    const Token& token = cursor_.now();
    for (const std::string_view known :
         {"autoescape", "block", "do", "extends", "from", "import", "include", "print"}) {
        if (token.text != known) continue;
        return fail_at(token.at, ErrorKind::unsupported,
                       fmt::format("the tag '{}' is not supported", known));
    }
    return cursor_.error(
        fmt::format("there is no tag '{}', or nothing is open that it could close", token.text));
}

Result<Stmt> Parser::if_tag(Position at) {
    constexpr std::string_view kEnds[] = {"elif", "else", "endif"};
    IfStmt made;
    std::string_view end = "elif";
    while (end == "elif") {
        KVIK_TRY(ExprPtr condition, expressions_.tuple_before_if());
        KVIK_TRY_VOID(end_tag());
        KVIK_TRY(Block branch, block(kEnds));
        made.branches.push_back({std::move(condition), std::move(branch.body)});
        end = branch.end;
    }
    if (end == "else") {
        KVIK_TRY(made.otherwise, block_of("endif"));
    } else {
        KVIK_TRY_VOID(end_tag());
    }
    return Stmt{at, std::move(made)};
}

Result<Stmt> Parser::for_tag(Position at) {
    constexpr std::string_view kEnds[] = {"else", "endfor"};
    ForStmt made;
    KVIK_TRY(made.target, target());
    KVIK_TRY_VOID(cursor_.expect_word("in"));
    KVIK_TRY(made.items, expressions_.tuple_before_if());
    if (cursor_.skip_word("if")) {
        KVIK_TRY(made.filter, expressions_.expression());
    }
    if (cursor_.is_word("recursive")) {
        return fail_at(cursor_.now().at, ErrorKind::unsupported,
                       "recursive loops are not supported");
    }
    KVIK_TRY_VOID(end_tag());
    ++n_loops_;
    KVIK_TRY(Block body, block(kEnds));
    --n_loops_;
    made.body = std::move(body.body);
    if (body.end == "else") {
        KVIK_TRY(made.otherwise, block_of("endfor"));
    } else {
        KVIK_TRY_VOID(end_tag());
    }
    return Stmt{at, std::move(made)};
}

Result<Target::Part> Parser::target_part() {
    const Position at = cursor_.now().at;
    KVIK_TRY(const std::string name, cursor_.expect_name("a name to assign to"));
    for (const std::string_view word : {"true", "false", "none", "True", "False", "None"}) {
        if (name == word) {
            return fail_at(at, ErrorKind::file, fmt::format("'{}' cannot be assigned to", name));
        }
    }
    Target::Part part{symbols_.of(name), make_str(name), nullptr};
    if (cursor_.skip_symbol(".")) {
        KVIK_TRY(const std::string attribute, cursor_.expect_name("a name after '.'"));
        part.attribute = make_str(attribute);
    }
    return part;
}

Result<Target> Parser::target() {
    Target made;
    const bool brackets = cursor_.skip_symbol("(");
    do {
        if (made.unpacks && !cursor_.is(TokenKind::name)) break;
        KVIK_TRY(Target::Part part, target_part());
        made.parts.push_back(std::move(part));
        made.unpacks = made.unpacks || cursor_.is_symbol(",");
    } while (cursor_.skip_symbol(","));
    if (brackets) KVIK_TRY_VOID(cursor_.expect_symbol(")"));
    return made;
}

Result<Stmt> Parser::set_tag(Position at) {
    KVIK_TRY(Target to, target());
    if (cursor_.skip_symbol("=")) {
        KVIK_TRY(ExprPtr value, expressions_.tuple());
        KVIK_TRY_VOID(end_tag());
        return Stmt{at, SetStmt{std::move(to), std::move(value)}};
    }
    SetBlockStmt made{std::move(to), {}, {}};
    if (cursor_.skip_symbol("|")) {
        KVIK_TRY(made.filters, expressions_.filters());
    }
    KVIK_TRY(made.body, block_of("endset"));
    return Stmt{at, std::move(made)};
}

Result<Stmt> Parser::filter_tag(Position at) {
    FilterStmt made;
    KVIK_TRY(made.filters, expressions_.filters());
    KVIK_TRY(made.body, block_of("endfilter"));
    return Stmt{at, std::move(made)};
}

Result<Stmt> Parser::with_tag(Position at) {
    WithStmt made;
    while (!cursor_.is(TokenKind::block_end)) {
        KVIK_TRY(Target::Part part, target_part());
        Target to;
        to.parts.push_back(std::move(part));
        KVIK_TRY_VOID(cursor_.expect_symbol("="));
        KVIK_TRY(ExprPtr value, expressions_.expression());
        made.values.emplace_back(std::move(to), std::move(value));
        if (!cursor_.skip_symbol(",")) break;
    }
    KVIK_TRY(made.body, block_of("endwith"));
    return Stmt{at, std::move(made)};
}

MacroStmt::Parameter Parser::parameter(std::string_view name) {
    return {symbols_.of(name), make_str(name), nullptr};
}

Result<void> Parser::signature(MacroStmt& macro) {
    KVIK_TRY_VOID(cursor_.expect_symbol("("));
    bool defaults = false;
    while (!cursor_.is_symbol(")")) {
        KVIK_TRY(const std::string name, cursor_.expect_name("a parameter's name"));
        MacroStmt::Parameter made = parameter(name);
        if (cursor_.skip_symbol("=")) {
            KVIK_TRY(made.otherwise, expressions_.expression());
            defaults = true;
        } else if (defaults) {
            return cursor_.error("a parameter without a default follows one with a default");
        }
        macro.parameters.push_back(std::move(made));
        if (!cursor_.skip_symbol(",")) break;
    }
    return cursor_.expect_symbol(")");
}

Result<Stmt> Parser::macro_tag(Position at) {
    MacroStmt made;
    KVIK_TRY(const std::string name, cursor_.expect_name("the macro's name"));
    made.symbol = symbols_.of(name);
    made.name = make_str(name);
    KVIK_TRY_VOID(signature(made));
    const uint32_t around = std::exchange(n_loops_, 0);
    KVIK_TRY(made.body, block_of("endmacro"));
    n_loops_ = around;
    return Stmt{at, std::move(made)};
}

Result<Stmt> Parser::call_tag(Position at) {
    CallStmt made;
    made.caller.name = make_str("caller");
    if (cursor_.is_symbol("(")) KVIK_TRY_VOID(signature(made.caller));
    KVIK_TRY(made.call, expressions_.expression());
    const auto* chain = std::get_if<Chain>(&made.call->what);
    if (!chain || !std::holds_alternative<Call>(chain->steps.back().what)) {
        return fail_at(made.call->at, ErrorKind::file, "the tag 'call' needs a call");
    }
    const uint32_t around = std::exchange(n_loops_, 0);
    KVIK_TRY(made.caller.body, block_of("endcall"));
    n_loops_ = around;
    return Stmt{at, std::move(made)};
}

Result<Stmt> Parser::generation_tag(Position at) {
    ScopeStmt made;
    KVIK_TRY(made.body, block_of("endgeneration"));
    return Stmt{at, std::move(made)};
}

Result<Stmt> Parser::break_tag(Position at) {
    if (n_loops_ == 0) return fail_at(at, ErrorKind::file, "'break' outside of a loop");
    KVIK_TRY_VOID(end_tag());
    return Stmt{at, BreakStmt{}};
}

Result<Stmt> Parser::continue_tag(Position at) {
    if (n_loops_ == 0) return fail_at(at, ErrorKind::file, "'continue' outside of a loop");
    KVIK_TRY_VOID(end_tag());
    return Stmt{at, ContinueStmt{}};
}

}  // namespace

Result<Program> parse(std::string_view source, const Limits& limits) {
    KVIK_TRY(const Tokens tokens, tokenize(source, limits));
    return Parser(tokens, limits).program();
}

}  // namespace kvik::jinja
