#include "cli/prompt_note.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.h"

namespace kvik::cli {
namespace {

std::string about(double seconds) {
    if (seconds < 100) return fmt::format("about {:.0f} s left", std::max(1.0, std::ceil(seconds)));
    return fmt::format("about {:.0f} min left", std::ceil(seconds / 60));
}

}  // namespace

std::string prompt_line(const PromptProgress& progress, const PromptClock& clock,
                        uint32_t n_columns) {
    const std::string seconds = fmt::format("{:.0f} s", std::floor(clock.now_s));
    if (progress.n_tokens == 0) return "reading the prompt, " + seconds;
    const std::string done = fmt::format("{} of {}", progress.n_done, progress.n_tokens);
    std::string left;
    if (progress.n_done > progress.n_cached && clock.done_s > 0) {
        const double each_s = clock.done_s / (progress.n_done - progress.n_cached);
        const double rest_s = each_s * (progress.n_tokens - progress.n_done);
        left = ", " + about(rest_s - (clock.now_s - clock.done_s));
    }
    const std::string short_line = fmt::format("prompt: {}{}", done, left);
    for (const std::string& line :
         {fmt::format("reading the prompt, {}: {} tokens{}", seconds, done, left), short_line})
        if (line.size() <= n_columns) return line;
    return fmt::format("prompt: {} %", uint64_t{100} * progress.n_done / progress.n_tokens);
}

void PromptNote::tick(const PromptProgress& progress) {
    const auto now = Clock::now();
    if (progress.n_done != n_done_) done_ = now;
    n_done_ = progress.n_done;
    if (!line_.is_shown() || is_over_ || now < next_) return;
    next_ = now + std::chrono::seconds(1);
    const auto since_start = [&](Clock::time_point t) {
        return std::chrono::duration<double>(t - start_).count();
    };
    line_.draw(prompt_line(progress, {.now_s = since_start(now), .done_s = since_start(done_)},
                           columns_of(STDERR_FILENO) - 1));
}

void PromptNote::clear() {
    line_.clear();
    is_over_ = true;
}

}  // namespace kvik::cli
