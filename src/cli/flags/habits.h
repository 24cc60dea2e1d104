// Habits: the flags of llama-cli, llama-bench and `ollama run` that kvik has no use for, so that a command line
// from there works or is told in one line what to write instead.
//
// Use     add_habits() after the flags of `run`, `chat` or `score`, add_bench_habits() after those of
//         `bench`; names that these have already are theirs.
//         What a flag of these verbs is called elsewhere is an alias of that flag, not a habit.
// Source  llama.cpp common/arg.cpp in xllamacpp 2026.10.11549 (PyPI): names and kinds of values;
//         `ollama run --help`, 0.12. tests/e2e/test_habits.py walks through all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/flags/flags.h"

namespace kvik::cli {

enum class HabitKind : uint8_t {
    idle,     // accepted, and one line names it
    silent,   // what it asks for is what kvik does anyway
    refused,  // misuse, and one line says what to do instead
};

struct Habit {
    HabitKind kind;
    std::string_view names;  // between blanks
    // "": a switch. "on|off": a value that may be left out, one of these words. Else a placeholder.
    std::string_view value;
    std::string_view told =
        {};  // of an idle one why it changes nothing, of a refused one what to do
    std::string_view off = {};  // a refused one's value that asks for nothing
};

std::span<const Habit> all_habits();
std::span<const Habit> bench_habits();
void add_habits(Flags& flags);
void add_bench_habits(Flags& flags);

}  // namespace kvik::cli
