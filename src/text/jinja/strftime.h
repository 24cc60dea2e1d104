// strftime in the C locale, of a time that the caller gives: no clock, no time zone, no locale.
//
// Has       %a %A %b %B %c %d %D %e %F %H %I %j %m %M %n %p %R %S %t %T %u %w %x %X %y %Y %%, and
//           %-d and its like without padding. %z and %Z give nothing: the time has no zone.
// Errors    any other letter, by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik::jinja {

// `seconds` since 1970-01-01 00:00 on the wall clock that is meant.
Result<std::string> format_time(int64_t seconds, std::string_view format);

}  // namespace kvik::jinja
