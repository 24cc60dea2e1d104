// CallArgs: what stands between the parentheses of a call, evaluated.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace kvik::jinja {

struct CallArgs {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

}  // namespace kvik::jinja
