// ChatSettings: how answers are picked and when they end, what becomes of what does not fit, and the
// names that /set knows them by.
//
// Errors  ErrorKind::usage: an unknown name, with the nearest known one; a value out of its range.
// Invariant a value that was refused has changed nothing. What describe() prints, set() takes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/options.h"
#include "cli/values.h"

namespace kvik::cli {

struct ChatSettings {
    SamplingParams sampling;
    AnswerOptions answer;
    SessionOptions session;
};

// The words that flags and /set know these by.
std::vector<Choice<Overflow>> overflow_choices();
std::vector<Choice<Invalidation>> invalidation_choices();

struct Setting {
    std::string_view name;
    std::string_view help;
    std::function<std::string(const ChatSettings&)> describe;
    Result<void> (*set)(ChatSettings&, std::string_view);
};

std::vector<Setting> all_settings();

// "top-k" and "--top-k" are top_k; "temperature" is temp.
Result<Setting> find_setting(std::string_view name);
Result<void> set(ChatSettings& settings, std::string_view name, std::string_view value);

}  // namespace kvik::cli
