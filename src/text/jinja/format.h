// Python's two ways to fill values into a text: "%s" % x and "{}".format(x).
//
// Has       %s %r %d %i %f %e %g %x %X %%, {} {0} {name} !r !s, and in both fill, alignment, sign,
//           zeros, width, thousands and precision. Attributes inside braces are an error.
// Errors    a specification that means nothing, too few or too many values.
#pragma once

#include "base/result.h"
#include "text/jinja/call_args.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

Result<Value> percent_format(Heap& heap, const Str& format, const Value& values);
Result<Value> brace_format(Heap& heap, const Str& format, const CallArgs& values);

}  // namespace kvik::jinja
