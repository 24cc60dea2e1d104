// The part of ExpressionParser behind a value: .name [item] (call) |filter is test.
#include <fmt/format.h>

#include "text/jinja/expression_parser.h"
#include "text/jinja/literal.h"

namespace kvik::jinja {

Result<void> ExpressionParser::postfix_steps(std::vector<Step>& steps) {
    while (true) {
        if (cursor_.is_symbol(".")) {
            KVIK_TRY(Step step, attribute());
            steps.push_back(std::move(step));
        } else if (cursor_.is_symbol("[")) {
            KVIK_TRY(Step step, subscript());
            steps.push_back(std::move(step));
        } else if (cursor_.is_symbol("(")) {
            KVIK_TRY(Step step, call());
            steps.push_back(std::move(step));
        } else {
            return {};
        }
    }
}

Result<void> ExpressionParser::filter_steps(std::vector<Step>& steps) {
    while (true) {
        if (cursor_.is_symbol("|")) {
            cursor_.advance();
            KVIK_TRY(Step step, filter());
            steps.push_back(std::move(step));
        } else if (cursor_.is_word("is")) {
            KVIK_TRY(Step step, test());
            steps.push_back(std::move(step));
        } else if (cursor_.is_symbol("(")) {
            KVIK_TRY(Step step, call());
            steps.push_back(std::move(step));
        } else {
            return {};
        }
    }
}

Result<std::vector<Step>> ExpressionParser::filters() {
    std::vector<Step> steps;
    do {
        KVIK_TRY(Step step, filter());
        steps.push_back(std::move(step));
    } while (cursor_.skip_symbol("|"));
    return steps;
}

Result<Step> ExpressionParser::attribute() {
    const Position at = cursor_.advance().at;
    if (cursor_.is(TokenKind::integer)) {
        const Token& token = cursor_.advance();
        KVIK_TRY(Value index, number_literal(token));
        return Step{
            at, GetItem{std::make_unique<const Expr>(Expr{token.at, Constant{std::move(index)}})}};
    }
    KVIK_TRY(const std::string name, cursor_.expect_name("a name or number after '.'"));
    return Step{at, GetAttribute{make_str(name)}};
}

Result<Step> ExpressionParser::subscript() {
    const Position at = cursor_.advance().at;
    const auto part_ends = [&] { return cursor_.is_symbol(":") || cursor_.is_symbol("]"); };
    ExprPtr parts[3];
    size_t n_colons = 0;
    for (size_t i = 0; i < 3; ++i) {
        if (!part_ends()) {
            KVIK_TRY(parts[i], expression());
        }
        if (i == 2 || !cursor_.skip_symbol(":")) break;
        ++n_colons;
    }
    KVIK_TRY_VOID(cursor_.expect_symbol("]"));
    if (n_colons > 0) {
        return Step{at, GetSlice{std::move(parts[0]), std::move(parts[1]), std::move(parts[2])}};
    }
    if (!parts[0]) return fail_at(at, ErrorKind::file, "nothing between '[' and ']'");
    return Step{at, GetItem{std::move(parts[0])}};
}

Result<Step> ExpressionParser::call() {
    const Position at = cursor_.now().at;
    KVIK_TRY(CallSite args, arguments());
    return Step{at, Call{std::move(args)}};
}

Result<std::string> ExpressionParser::dotted_name() {
    KVIK_TRY(std::string name, cursor_.expect_name("a name"));
    while (cursor_.skip_symbol(".")) {
        KVIK_TRY(const std::string part, cursor_.expect_name("a name"));
        name += '.' + part;
    }
    return name;
}

Result<Step> ExpressionParser::filter() {
    const Position at = cursor_.now().at;
    ApplyFilter filter;
    KVIK_TRY(filter.name, dotted_name());
    if (cursor_.is_symbol("(")) {
        KVIK_TRY(filter.args, arguments());
    }
    return Step{at, std::move(filter)};
}

// x is name, x is not name(...), x is name value
Result<Step> ExpressionParser::test() {
    const Position at = cursor_.advance().at;
    ApplyTest test;
    test.negated = cursor_.skip_word("not");
    KVIK_TRY(test.name, dotted_name());
    if (cursor_.is_symbol("(")) {
        KVIK_TRY(test.args, arguments());
        return Step{at, std::move(test)};
    }
    const auto is_operator = [&] {
        for (const std::string_view word : {"else", "or", "and"}) {
            if (cursor_.is_word(word)) return true;
        }
        return false;
    };
    if (cursor_.is_word("is")) return cursor_.error("a test of a test needs parentheses");
    const bool has_value = cursor_.is(TokenKind::name) || cursor_.is(TokenKind::string) ||
                           cursor_.is(TokenKind::integer) || cursor_.is(TokenKind::real) ||
                           cursor_.is_symbol("[") || cursor_.is_symbol("{");
    if (has_value && !is_operator()) {
        KVIK_TRY(ExprPtr first, primary());
        std::vector<Step> steps;
        KVIK_TRY_VOID(postfix_steps(steps));
        KVIK_TRY(ExprPtr value, chain_of(std::move(first), std::move(steps)));
        test.args.positional.push_back(std::move(value));
    }
    return Step{at, std::move(test)};
}

Result<CallSite> ExpressionParser::arguments() {
    CallSite args;
    KVIK_TRY_VOID(cursor_.expect_symbol("("));
    while (!cursor_.is_symbol(")")) {
        if (cursor_.is_symbol("*") || cursor_.is_symbol("**")) {
            return cursor_.error("spread arguments are not supported");
        }
        if (cursor_.is(TokenKind::name) &&
            TokenCursor::is(cursor_.ahead(), TokenKind::symbol, "=")) {
            std::string name(cursor_.advance().text);
            cursor_.advance();
            KVIK_TRY(ExprPtr value, expression());
            args.named.emplace_back(std::move(name), std::move(value));
        } else {
            if (!args.named.empty()) {
                return cursor_.error("an argument without a name after one with a name");
            }
            KVIK_TRY(ExprPtr value, expression());
            args.positional.push_back(std::move(value));
        }
        if (!cursor_.skip_symbol(",")) break;
    }
    KVIK_TRY_VOID(cursor_.expect_symbol(")"));
    return args;
}

}  // namespace kvik::jinja
