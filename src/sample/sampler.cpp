#include "sample/sampler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/exact_math.h"
#include "sample/logits.h"
#include "sample/noise.h"
#include "sample/tiles.h"

namespace kvik {
namespace {

// A logit under which no token can be drawn: the likeliest token, which every cut keeps, is ahead
// by more than noise can make up; or min-p forbids it.
float hopeless_below(const SamplingParams& params, const NoiseKey& key, const Tempered& tempered,
                     TokenId likeliest) {
    double log_ratio = gumbel(noise_bits(key, likeliest)) - kNoiseMax;
    if (params.min_p > 0) log_ratio = std::max(log_ratio, exact_log(params.min_p));
    return limit_below(tempered, log_ratio);
}

// What the fixed weights of the row sum to, as far as the sum_exps of its tiles tell.
TotalWeight total_weight(const SampleInput& input, const TiledRow& row, const Tempered& tempered) {
    const LogitTiles& tiles = input.tiles;
    if (!tiles.tempered.empty() && tiles.inverse_temperature == 1.0f / tempered.temperature)
        return estimate_fixed_weights(tempered, row, tiles.tempered);
    const uint64_t sum = sum_fixed_weights(tempered, row);
    return {sum, sum};
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

// largest: of a row that no token can be picked from.
tl::unexpected<Error> no_token(float largest, uint32_t position) {
    if (largest > 0)
        return fail(ErrorKind::failed,
                    fmt::format("the logits for position {} hold NaN or infinity: no token can be "
                                "picked; kvik show --check MODEL says whether the file is damaged",
                                position));
    return fail(
        ErrorKind::failed,
        fmt::format("every token is forbidden at position {}: allow one in logit_bias", position));
}

Result<TokenId> pick(const SamplingParams& params, const SampleInput& input, const TiledRow& row,
                     std::vector<Candidate>& kept) {
    const float max = largest(row);
    if (!is_sampleable(max)) return no_token(max, input.position);
    const TokenId likeliest = first_equal(row, max);
    if (params.temperature == 0) return likeliest;

    const NoiseKey key = {params.seed.value_or(0), input.position, params.sample_index};
    const Tempered tempered = {max, params.temperature};
    const bool has_top_k = params.top_k > 0 && params.top_k < row.size();
    const bool has_top_p = params.top_p < 1;
    if (has_top_k && has_top_p) {
        gather_top_k(row, params.top_k, kLowestLogit, kept);
        cut_top_p(tempered, params.top_p, kept);
    } else if (has_top_p) {
        gather_top_p(row, tempered, params.top_p, total_weight(input, row, tempered), kept);
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

}  // namespace

SampleScratch::SampleScratch(uint32_t vocab_size)
    : patch(vocab_size), maxima(n_logit_tiles(vocab_size)), counts(vocab_size) {
    KVIK_CHECK(vocab_size <= kMaxWeights, "the weights of a row fit a sum of 64 bits");
    candidates.reserve(vocab_size);
}

bool wants_tempered_sum_exp(const SamplingParams& params, uint32_t vocab_size) {
    const bool has_top_k = params.top_k > 0 && params.top_k < vocab_size;
    return params.temperature > 0 && params.top_p < 1 && !has_top_k;
}

Result<TokenId> sample(const SamplingParams& params, const SampleInput& input,
                       SampleScratch& scratch) {
    KVIK_CHECK(!input.logits.empty() && input.logits.size() == scratch.counts.size(),
               "the scratch was made for this vocabulary");
    TiledRow row = {input.logits, input.tiles.maxima};
    if (row.maxima.empty()) {
        note_maxima(input.logits, scratch.maxima);
        row.maxima = scratch.maxima;
    }
    KVIK_CHECK(row.maxima.size() == scratch.maxima.size(), "the tiles are of this row");
    if (!adjusts_logits(params)) return pick(params, input, row, scratch.candidates);
    RowPatch& patch = scratch.patch;
    patch.begin(row.logits, row.maxima);
    adjust_logits(params, input.history, scratch.counts,
                  [&](TokenId id) -> float& { return patch.at(id); });
    Result<TokenId> picked = pick(params, input, patch.row(), scratch.candidates);
    patch.end();
    return picked;
}

}  // namespace kvik
