// BenchOptions: the flags of `kvik bench`. bench_plan.h says what is measured with them.
//
// Use     bench_flags() binds a table to the struct, which stays alive until parse() has returned.
// Errors  those of single flags, from parse().
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/flags/options.h"

namespace kvik::cli {

enum class BenchTest : uint8_t { pp, tg, rows, streams };
std::string_view name_of(BenchTest test);

struct BenchOptions {
    EngineOptions engine;
    std::optional<std::vector<BenchTest>> tests;
    std::optional<std::vector<uint32_t>> prompts, decodes, widths;
    std::vector<uint32_t> threads;  // empty: as many as the engine takes
    std::vector<uint32_t> depths = {0};
    uint32_t n_runs = 5;
    bool profile = false;
    bool json = false;
};

Flags bench_flags(BenchOptions& options);

}  // namespace kvik::cli
