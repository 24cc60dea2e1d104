// StepCosts: what a step of this model takes on this machine, as a table and all that lies between.
//
// Shape   step_ms : [kDepths, kTokens] n rows of one sequence at a depth, each with its logits: what
//         streams and drafts need.  chunk_ms : [kChunks] n rows of a prompt at depth 0, logits of
//         the last alone.
// Cost    a plain value; a look-up is a handful of comparisons.
// Invariant never negative; more rows or more depth never cost less; at the points of the table it
//         says what the table holds. Between them it is linear, beyond them it goes on as between
//         the last two. It decides how work is cut, never what comes out.
#pragma once

#include <array>
#include <cstdint>

namespace kvik {

struct StepCosts {
    static constexpr std::array<uint32_t, 6> kTokens = {1, 2, 4, 8, 12, 16};
    static constexpr std::array<uint32_t, 3> kDepths = {0, 2048, 8192};
    static constexpr std::array<uint32_t, 3> kChunks = {1, 16, 64};
    using Row = std::array<double, kTokens.size()>;

    std::array<Row, kDepths.size()> step_ms{};
    std::array<double, kChunks.size()> chunk_ms{};

    // n rows of one sequence, the first of them at position `depth`; 0 rows take no time.
    double ms(uint32_t n_tokens, uint32_t depth) const;
    // Of that, what the depth adds: reading the KV before the rows.
    double depth_ms(uint32_t n_tokens, uint32_t depth) const;
    // n rows of a prompt that begins here.
    double prompt_ms(uint32_t n_tokens) const;

    // The most rows, up to the last of kTokens, whose step takes at most `factor` times that of one:
    // rows that come almost for nothing, as long as the weights are what is waited for.
    uint32_t tokens_within(double factor, uint32_t depth) const;

    bool is_lawful() const;  // the invariant holds for these numbers

    bool operator==(const StepCosts&) const = default;
};

}  // namespace kvik
