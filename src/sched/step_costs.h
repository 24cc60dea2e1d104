// StepCosts: the time of a step of this model on this machine: a table, and values between and beyond
// its points.
//
// Shape   step_ms : [kDepths, kTokens] n tokens of one sequence at a depth, with the logits of each:
//         what decoding and drafts need.  chunk_ms : [kChunks] n tokens of a prompt at depth 0, with
//         the logits of the last alone.
// Owner   a plain value.
// Threads any.
// Cost    a handful of comparisons per look-up; tokens_within does up to 16 of them.
// Invariant times are never negative, and never fall with more tokens or more depth. At the points of
//         the table a look-up returns what the table holds; between them it is linear, beyond them it
//         goes on as between the last two. Costs decide how work is cut, never what is computed.
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

    // Returns the time of n tokens of one sequence, the first of them at position `depth`; of 0
    // tokens 0.
    double ms(uint32_t n_tokens, uint32_t depth) const;
    // Returns the part of ms() that the depth adds: reading the KV of earlier positions.
    double depth_ms(uint32_t n_tokens, uint32_t depth) const;
    // Returns the time of the first n tokens of a prompt.
    double prompt_ms(uint32_t n_tokens) const;

    // Returns how many tokens, up to the last of kTokens, a step may have and take at most `factor`
    // times as long as with one. While reading the weights takes most of a step, further tokens cost
    // almost nothing.
    uint32_t tokens_within(double factor, uint32_t depth) const;

    bool is_lawful() const;  // true: the invariant holds for these numbers

    bool operator==(const StepCosts&) const = default;
};

}  // namespace kvik
