// Several: one prompt of `run` that gets several answers, samples or beams, and how they are told.
//
// Errors  flags that do not go together: usage.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/flags/run_flags.h"
#include "cli/json.h"
#include "cli/reply.h"
#include "kvik/kvik.h"

namespace kvik::cli {

Result<void> check_several(const SeveralOptions& several);
Result<std::vector<Stream>> submit(Engine& engine, GenerateRequest request,
                                   const SeveralOptions& several);

// "--- answer 2 of 4, seed 8 ---"
std::string header_of(uint32_t index, uint32_t n, uint64_t seed);
// "kvik: 4 beams held 23 blocks of KV (2 MiB), 4 copies would have held 41"
std::string held_blocks(const SeveralOptions& several, std::span<const Reply> replies,
                        const Engine& engine);

// Adds to what `run --json` says: "samples" or "beams", and their blocks to "kv".
void describe_several(const SeveralOptions& several, std::span<const Reply> replies, uint64_t seed,
                      Json& out);

}  // namespace kvik::cli
