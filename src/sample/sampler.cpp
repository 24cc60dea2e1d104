#include "sample/sampler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/exact_math.h"
#include "sample/logits.h"
#include "sample/noise.h"
#include "sample/row.h"

namespace kvik {
namespace {

// The row after penalties and bias: the given one where there are none.
std::span<const float> adjusted(const SamplingParams& params, const SampleInput& input,
                                SampleScratch& scratch) {
    if (!adjusts_logits(params)) return input.logits;
    std::copy(input.logits.begin(), input.logits.end(), scratch.row.begin());
    adjust_logits(params, input.history, scratch.row, scratch.counts);
    return scratch.row;
}

// A logit under which no token can be drawn: the likeliest token, which every cut keeps, is ahead
// by more than noise can make up; or min-p forbids it.
float hopeless_below(const SamplingParams& params, const NoiseKey& key, const Tempered& tempered,
                     TokenId likeliest) {
    double log_ratio = gumbel(noise_bits(key, likeliest)) - kNoiseMax;
    if (params.min_p > 0) log_ratio = std::max(log_ratio, exact_log(params.min_p));
    return limit_below(tempered, log_ratio);
}

// Top-p over the whole row. Tokens that weigh at most their share of what may be left out, taken
// together, can all be left out: they need not be selected from.
void gather_top_p(std::span<const float> row, const Tempered& tempered, float top_p,
                  std::vector<Candidate>& out) {
    const uint64_t total = sum_fixed_weights(tempered, row);
    const uint64_t target = top_p_target(top_p, total);
    const uint64_t share = (total - target) / row.size();
    // A quarter stands for 0: it rounds to no weight. 1e-5 is more than a weight's relative error.
    const double weight = share == 0 ? 0.25 : static_cast<double>(share);
    const double log_ratio = exact_log(weight / static_cast<double>(1ull << kWeightBits)) - 1e-5;
    gather_from(row, limit_below(tempered, log_ratio), out);
    for (Candidate& c : out) c.weight = fixed_weight(tempered, c.logit);
    keep_mass(target, out);
}

// Top-p over what top-k kept.
void cut_top_p(const Tempered& tempered, float top_p, std::vector<Candidate>& candidates) {
    uint64_t total = 0;
    for (Candidate& c : candidates) {
        c.weight = fixed_weight(tempered, c.logit);
        total += c.weight;
    }
    keep_mass(top_p_target(top_p, total), candidates);
}

// argmax of l / T + g. The bound never lets go of a winner: adding is monotone, also when rounded.
TokenId draw(const NoiseKey& key, float temperature, std::span<const Candidate> candidates) {
    const double t = temperature;
    double best = -std::numeric_limits<double>::infinity();
    TokenId winner = -1;
    for (const Candidate& c : candidates) {
        const double x = c.logit / t;
        const uint32_t bits = noise_bits(key, c.id);
        if (x + gumbel_bound(bits) < best) continue;
        const double score = x + gumbel(bits);
        if (score > best || (score == best && c.id < winner)) {
            best = score;
            winner = c.id;
        }
    }
    KVIK_CHECK(winner >= 0, "every cut keeps the likeliest token");
    return winner;
}

}  // namespace

SampleScratch::SampleScratch(uint32_t vocab_size) : row(vocab_size), counts(vocab_size) {
    KVIK_CHECK(vocab_size <= kMaxWeights, "the weights of a row fit a sum of 64 bits");
    candidates.reserve(vocab_size);
}

Result<TokenId> sample(const SamplingParams& params, const SampleInput& input,
                       SampleScratch& scratch) {
    KVIK_CHECK(!input.logits.empty() && input.logits.size() == scratch.row.size(),
               "the scratch was made for this vocabulary");
    const std::span<const float> row = adjusted(params, input, scratch);
    const RowMax max = row_max(row);
    if (max.has_nan || max.max == std::numeric_limits<float>::infinity())
        return fail(ErrorKind::failed,
                    fmt::format("the logits for position {} hold NaN or infinity: no token can be "
                                "picked, the model file may be damaged",
                                input.position));
    if (!max.is_finite())
        return fail(ErrorKind::failed,
                    fmt::format("every token is forbidden at position {}: allow one in logit_bias",
                                input.position));
    const TokenId likeliest = first_equal(row, max.max);
    if (params.temperature == 0) return likeliest;

    const NoiseKey key = {params.seed, input.position, params.sample_index};
    const Tempered tempered = {max.max, params.temperature};
    const bool has_top_k = params.top_k > 0 && params.top_k < row.size();
    const bool has_top_p = params.top_p < 1;
    std::vector<Candidate>& kept = scratch.candidates;
    if (has_top_k && has_top_p) {
        gather_top_k(row, params.top_k, kLowestLogit, kept);
        cut_top_p(tempered, params.top_p, kept);
    } else if (has_top_p) {
        gather_top_p(row, tempered, params.top_p, kept);
    } else {
        const float limit = hopeless_below(params, key, tempered, likeliest);
        if (has_top_k)
            gather_top_k(row, params.top_k, limit, kept);
        else
            gather_from(row, limit, kept);
    }
    if (params.min_p > 0) keep_min_p(tempered, params.min_p, kept);
    return draw(key, params.temperature, kept);
}

}  // namespace kvik
