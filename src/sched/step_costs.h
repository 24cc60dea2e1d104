// StepCosts and PrefillRate: the time of a step of this model on this machine: a table with values
// between and beyond its points, and a rate that is learnt from the steps that run.
//
// Shape   step_ms : [kDepths, kTokens] n tokens of one sequence at a depth, with the logits of
//         each: what decoding and drafts need.  chunk_ms : [kChunks] n tokens of a prompt at depth
//         0, with the logits of the last alone.
// Owner   a plain value.
// Threads any.
// Cost    a handful of comparisons per look-up; tokens_within does up to 16 of them.
// Invariant times are never negative, and never fall with more tokens or more depth. At the points
//         of the table a look-up returns what the table holds; between them it is linear, beyond
//         them it goes on as between the last two. Costs decide how work is cut, never what is
//         computed.
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
    // times as long as with one. While reading the weights takes most of a step, further tokens
    // cost almost nothing.
    uint32_t tokens_within(double factor, uint32_t depth) const;

    bool is_lawful() const;  // true: the invariant holds for these numbers

    bool operator==(const StepCosts&) const = default;
};

// What a token of a prompt costs at a depth, learnt from the steps that ran. The cache uses it to
// say what a hit saves and to rank what it evicts. The time of n tokens from position d on is n *
// (base + slope * mean position); base and slope are fitted by weighted least squares, in which
// later steps weigh more. O(1) per step and per look-up. Never negative, and never less at a
// greater depth; 0 before the first step was timed.
class PrefillRate {
  public:
    // Records the time of a step that computed n tokens of one prompt, the first of them at
    // position `depth`, and nothing else.
    void note(uint32_t n_tokens, uint32_t depth, double ms);

    double ms(uint32_t n_tokens, uint32_t depth) const;

  private:
    void fit();

    double weight_ = 0, x_ = 0, xx_ = 0, y_ = 0, xy_ = 0;  // sums over the steps, fading
    double base_ms_ = 0, slope_ms_ = 0;                    // of a row
};

}  // namespace kvik
