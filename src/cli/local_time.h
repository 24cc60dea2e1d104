// The wall clock as the user's time zone has it: for chat templates that write the date.
#pragma once

#include <chrono>
#include <optional>

namespace kvik::cli {

std::optional<std::chrono::local_seconds> local_now();  // nothing: the clock cannot be read

}  // namespace kvik::cli
