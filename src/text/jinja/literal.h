// Literals of the template language: what a string or number token is worth.
#pragma once

#include <string>

#include "base/result.h"
#include "text/jinja/lexer.h"
#include "text/jinja/value.h"

namespace kvik::jinja {

Result<std::string> string_literal(const Token& token);  // quotes off, escapes resolved
Result<Value> number_literal(const Token& token);

}  // namespace kvik::jinja
