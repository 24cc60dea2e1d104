#include "text/jinja/expression_parser.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>

#include "text/jinja/literal.h"

namespace kvik::jinja {
namespace {

using OperatorRow = std::pair<std::string_view, Operator>;
constexpr std::array<OperatorRow, 2> kSums = {{{"+", Operator::add}, {"-", Operator::subtract}}};
constexpr std::array<OperatorRow, 4> kProducts = {{{"*", Operator::multiply},
                                                   {"/", Operator::divide},
                                                   {"//", Operator::floor_divide},
                                                   {"%", Operator::modulo}}};
constexpr std::array<OperatorRow, 1> kPowers = {{{"**", Operator::power}}};

constexpr std::array<std::pair<std::string_view, Relation>, 6> kRelations = {
    {{"==", Relation::eq},
     {"!=", Relation::ne},
     {"<", Relation::lt},
     {"<=", Relation::le},
     {">", Relation::gt},
     {">=", Relation::ge}}};

template <class Node>
ExprPtr make(Position at, Node node) {
    return std::make_unique<const Expr>(Expr{at, std::move(node)});
}

// Takes the operator the cursor stands on, if it is one of a table.
template <class Table>
auto take(TokenCursor& cursor, const Table& table)
    -> std::optional<std::decay_t<decltype(table[0].second)>> {
    for (const auto& [spelling, meaning] : table) {
        if (cursor.skip_symbol(spelling)) return meaning;
    }
    return std::nullopt;
}

std::optional<Relation> take_relation(TokenCursor& cursor) {
    if (cursor.skip_word("in")) return Relation::in;
    if (cursor.is_word("not") && TokenCursor::is(cursor.ahead(), TokenKind::name, "in")) {
        cursor.advance();
        cursor.advance();
        return Relation::not_in;
    }
    return take(cursor, kRelations);
}

}  // namespace

Result<ExprPtr> ExpressionParser::expression() {
    return conditional();
}

Result<ExprPtr> ExpressionParser::tuple() {
    return maybe_tuple(If::ours);
}

Result<ExprPtr> ExpressionParser::tuple_before_if() {
    return maybe_tuple(If::not_ours);
}

Result<ExprPtr> ExpressionParser::maybe_tuple(If conditional_if) {
    const Position at = cursor_.now().at;
    const auto ends = [&] {
        return cursor_.is(TokenKind::output_end) || cursor_.is(TokenKind::block_end) ||
               cursor_.is_symbol(")");
    };
    std::vector<ExprPtr> items;
    bool commas = false;
    do {
        if (!items.empty() && ends()) break;
        KVIK_TRY(ExprPtr item,
                 conditional_if == If::ours ? conditional() : logic(Logic::Kind::any));
        items.push_back(std::move(item));
        commas = commas || cursor_.is_symbol(",");
    } while (cursor_.skip_symbol(","));
    if (!commas) return std::move(items[0]);
    return make(at, ListExpr{std::move(items), List::Form::tuple});
}

Result<ExprPtr> ExpressionParser::conditional() {
    const TokenCursor::Level level(cursor_);
    KVIK_TRY_VOID(level.check());
    const Position at = cursor_.now().at;
    KVIK_TRY(ExprPtr value, logic(Logic::Kind::any));
    if (!cursor_.skip_word("if")) return value;
    KVIK_TRY(ExprPtr condition, logic(Logic::Kind::any));
    ExprPtr otherwise;
    if (cursor_.skip_word("else")) {
        KVIK_TRY(otherwise, conditional());
    }
    if (cursor_.is_word("if")) return cursor_.error("an 'if' after an 'if' needs parentheses");
    return make(at, Conditional{std::move(condition), std::move(value), std::move(otherwise)});
}

Result<ExprPtr> ExpressionParser::logic(Logic::Kind kind) {
    const bool any = kind == Logic::Kind::any;
    const Position at = cursor_.now().at;
    std::vector<ExprPtr> operands;
    do {
        KVIK_TRY(ExprPtr operand, any ? logic(Logic::Kind::all) : negation());
        operands.push_back(std::move(operand));
    } while (cursor_.skip_word(any ? "or" : "and"));
    if (operands.size() == 1) return std::move(operands[0]);
    return make(at, Logic{kind, std::move(operands)});
}

Result<ExprPtr> ExpressionParser::negation() {
    if (!cursor_.is_word("not")) return comparison();
    const TokenCursor::Level level(cursor_);
    KVIK_TRY_VOID(level.check());
    const Position at = cursor_.advance().at;
    KVIK_TRY(ExprPtr operand, negation());
    return make(at, Not{std::move(operand)});
}

Result<ExprPtr> ExpressionParser::comparison() {
    const Position at = cursor_.now().at;
    KVIK_TRY(ExprPtr first, sum());
    std::vector<Comparisons::Operand> rest;
    while (const std::optional<Relation> relation = take_relation(cursor_)) {
        KVIK_TRY(ExprPtr value, sum());
        rest.push_back({*relation, std::move(value)});
    }
    if (rest.empty()) return first;
    return make(at, Comparisons{std::move(first), std::move(rest)});
}

Result<ExprPtr> ExpressionParser::arithmetic(Result<ExprPtr> (ExpressionParser::*operand)(),
                                             std::span<const OperatorRow> operators) {
    KVIK_TRY(ExprPtr first, (this->*operand)());
    std::vector<Arithmetic::Operand> rest;
    const Position begin = cursor_.now().at;
    while (true) {
        const Position at = cursor_.now().at;
        const std::optional<Operator> op = take(cursor_, operators);
        if (!op) break;
        KVIK_TRY(ExprPtr value, (this->*operand)());
        rest.push_back({at, *op, std::move(value)});
    }
    if (rest.empty()) return first;
    return make(begin, Arithmetic{std::move(first), std::move(rest)});
}

Result<ExprPtr> ExpressionParser::sum() {
    return arithmetic(&ExpressionParser::concatenation, kSums);
}

Result<ExprPtr> ExpressionParser::concatenation() {
    const Position at = cursor_.now().at;
    std::vector<ExprPtr> parts;
    do {
        KVIK_TRY(ExprPtr part, product());
        parts.push_back(std::move(part));
    } while (cursor_.skip_symbol("~"));
    if (parts.size() == 1) return std::move(parts[0]);
    return make(at, Concat{std::move(parts)});
}

Result<ExprPtr> ExpressionParser::product() {
    return arithmetic(&ExpressionParser::power, kProducts);
}

Result<ExprPtr> ExpressionParser::power() {
    return arithmetic(&ExpressionParser::unary, kPowers);
}

Result<ExprPtr> ExpressionParser::unary() {
    KVIK_TRY(ExprPtr first, signed_operand());
    std::vector<Step> steps;
    KVIK_TRY_VOID(filter_steps(steps));
    return chain_of(std::move(first), std::move(steps));
}

// A sign binds looser than .name and [item], tighter than |filter.
Result<ExprPtr> ExpressionParser::signed_operand() {
    const Position at = cursor_.now().at;
    ExprPtr first;
    if (cursor_.is_symbol("-") || cursor_.is_symbol("+")) {
        const TokenCursor::Level level(cursor_);
        KVIK_TRY_VOID(level.check());
        const bool negative = cursor_.advance().text == "-";
        KVIK_TRY(ExprPtr operand, signed_operand());
        first = make(at, Sign{std::move(operand), negative});
    } else {
        KVIK_TRY(first, primary());
    }
    std::vector<Step> steps;
    KVIK_TRY_VOID(postfix_steps(steps));
    return chain_of(std::move(first), std::move(steps));
}

Result<ExprPtr> ExpressionParser::chain_of(ExprPtr first, std::vector<Step> steps) {
    if (steps.empty()) return first;
    const Position at = first->at;
    return make(at, Chain{std::move(first), std::move(steps)});
}

Result<ExprPtr> ExpressionParser::primary() {
    const Token& token = cursor_.now();
    switch (token.kind) {
        case TokenKind::name: {
            cursor_.advance();
            const std::string_view name = token.text;
            if (name == "true" || name == "True") return make(token.at, Constant{true});
            if (name == "false" || name == "False") return make(token.at, Constant{false});
            if (name == "none" || name == "None") return make(token.at, Constant{None{}});
            return make(token.at, Variable{symbols_.of(name), make_str(name)});
        }
        case TokenKind::string: {
            std::string text;
            while (cursor_.is(TokenKind::string)) {  // neighbours are one string
                KVIK_TRY(const std::string part, string_literal(cursor_.advance()));
                text += part;
            }
            return make(token.at, Constant{make_str(text)});
        }
        case TokenKind::integer:
        case TokenKind::real: {
            KVIK_TRY(Value number, number_literal(cursor_.advance()));
            return make(token.at, Constant{std::move(number)});
        }
        default:
            if (cursor_.is_symbol("(")) return parenthesised();
            if (cursor_.is_symbol("[")) return list();
            if (cursor_.is_symbol("{")) return dict();
            return cursor_.expected("an expression");
    }
}

Result<ExprPtr> ExpressionParser::parenthesised() {
    const Position at = cursor_.advance().at;
    if (cursor_.skip_symbol(")")) return make(at, ListExpr{{}, List::Form::tuple});
    KVIK_TRY(ExprPtr inside, tuple());
    KVIK_TRY_VOID(cursor_.expect_symbol(")"));
    return inside;
}

Result<ExprPtr> ExpressionParser::list() {
    ListExpr list;
    const Position at = cursor_.advance().at;
    while (!cursor_.is_symbol("]")) {
        KVIK_TRY(ExprPtr item, expression());
        list.items.push_back(std::move(item));
        if (!cursor_.skip_symbol(",")) break;
    }
    KVIK_TRY_VOID(cursor_.expect_symbol("]"));
    return make(at, std::move(list));
}

Result<ExprPtr> ExpressionParser::dict() {
    DictExpr dict;
    const Position at = cursor_.advance().at;
    while (!cursor_.is_symbol("}")) {
        KVIK_TRY(ExprPtr key, expression());
        KVIK_TRY_VOID(cursor_.expect_symbol(":"));
        KVIK_TRY(ExprPtr value, expression());
        dict.entries.emplace_back(std::move(key), std::move(value));
        if (!cursor_.skip_symbol(",")) break;
    }
    KVIK_TRY_VOID(cursor_.expect_symbol("}"));
    return make(at, std::move(dict));
}

}  // namespace kvik::jinja
