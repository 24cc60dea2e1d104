// ExpressionParser: tokens -> Expr, by the precedence of the template language.
//
//     a if b else c  <  or  <  and  <  not  <  == < in ...  <  + -  <  ~  <  * / // %  <  **
//     <  unary + -  <  .name [item] (call)  <  |filter, is test
//
// Cost      linear. Recursion is as deep as the source's nesting, which the cursor bounds.
// Errors    what was expected, with line and column.
#pragma once

#include <string_view>

#include "text/jinja/ast.h"
#include "text/jinja/symbol_table.h"
#include "text/jinja/token_cursor.h"

namespace kvik::jinja {

class ExpressionParser {
  public:
    ExpressionParser(TokenCursor& cursor, SymbolTable& symbols)
        : cursor_(cursor), symbols_(symbols) {}

    Result<ExprPtr> expression();
    // Values with commas between make a tuple.
    Result<ExprPtr> tuple();
    // As tuple, but a following `if` belongs to the statement.
    Result<ExprPtr> tuple_before_if();
    Result<std::vector<Step>> filters();  // name|name(...)|..., without a first bar

  private:
    enum class If : uint8_t { ours, not_ours };
    Result<ExprPtr> maybe_tuple(If conditional);
    Result<ExprPtr> conditional();
    Result<ExprPtr> logic(Logic::Kind kind);
    Result<ExprPtr> negation();
    Result<ExprPtr> comparison();
    Result<ExprPtr> sum();
    Result<ExprPtr> concatenation();
    Result<ExprPtr> product();
    Result<ExprPtr> power();
    Result<ExprPtr> unary();
    Result<ExprPtr> signed_operand();
    Result<ExprPtr> primary();
    Result<ExprPtr> parenthesised();
    Result<ExprPtr> list();
    Result<ExprPtr> dict();
    Result<ExprPtr> chain_of(ExprPtr first, std::vector<Step> steps);
    Result<void> postfix_steps(std::vector<Step>& steps);
    Result<void> filter_steps(std::vector<Step>& steps);
    Result<Step> attribute();
    Result<Step> subscript();
    Result<Step> call();
    Result<Step> filter();
    Result<Step> test();
    Result<CallSite> arguments();
    Result<std::string> dotted_name();
    Result<ExprPtr> arithmetic(Result<ExprPtr> (ExpressionParser::*operand)(),
                               std::span<const std::pair<std::string_view, Operator>> operators);

    TokenCursor& cursor_;
    SymbolTable& symbols_;
};

}  // namespace kvik::jinja
