#include "cli/local_time.h"

#include <ctime>

namespace kvik::cli {

std::optional<std::chrono::local_seconds> local_now() {
    const std::time_t now = std::time(nullptr);
    std::tm fields{};
    if (now == -1 || ::localtime_r(&now, &fields) == nullptr) return std::nullopt;
    return std::chrono::local_seconds(std::chrono::seconds(now + fields.tm_gmtoff));
}

}  // namespace kvik::cli
