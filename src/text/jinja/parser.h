// The parser: template source -> Program.
//
// Cost      linear in the source.
// Errors    ErrorKind::file with line and column; ErrorKind::unsupported for a tag that exists
//           but not here (include, extends, ...).
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/jinja/ast.h"
#include "text/jinja/budget.h"

namespace kvik::jinja {

Result<Program> parse(std::string_view source, const Limits& limits);

}  // namespace kvik::jinja
