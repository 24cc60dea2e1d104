// NaiveBeams: beam search without any sharing, for tests: every hypothesis is a list of ids, its
// logits are computed from these alone, and every continuation of every hypothesis is written down
// and sorted.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/digest.h"
#include "engine/generate/beam_search.h"
#include "sample/logprob.h"
#include "support/requests.h"

namespace kvik {

struct NaiveBeamLimits {
    std::vector<TokenId> end_tokens;
    uint32_t max_tokens = 0;
    // Whether the answer ends with the last of these ids, which is no end token.
    std::function<bool(std::span<const TokenId>)> stops = {};
};

class NaiveBeams {
  public:
    NaiveBeams(ColdLogits cold_logits, const BeamParams& params, NaiveBeamLimits limits)
        : cold_logits_(std::move(cold_logits)), params_(params), limits_(std::move(limits)) {}

    std::vector<Beam> search(const std::vector<TokenId>& prompt) {
        std::vector<Hypothesis> running(1);
        for (uint32_t n = 1; n <= limits_.max_tokens && !running.empty(); ++n) {
            running = step(prompt, running, n);
            if (n == limits_.max_tokens)
                for (const Hypothesis& h : running) end(h, n, FinishReason::length);
            if (ended_.size() == params_.n_beams && !running.empty() &&
                ended_.back().score >= score(running[0].sum, n))
                break;
        }
        return ended_;
    }

  private:
    struct Hypothesis {
        std::vector<TokenId> ids;
        std::vector<float> logprobs;
        double sum = 0;
        std::vector<std::vector<float>> rows;
    };
    struct WayOn {
        double sum, logprob;
        size_t parent;
        TokenId token;
    };

    double score(double sum, uint32_t n) const {
        return BeamSearch::score(sum, n, params_.length_penalty);
    }

    void end(const Hypothesis& h, uint32_t n_tokens, FinishReason reason) {
        Sha256 hash;
        for (const std::vector<float>& row : h.rows) hash.update(std::as_bytes(std::span(row)));
        Beam beam;
        beam.ids = h.ids;
        beam.logprobs = h.logprobs;
        beam.sum_logprob = h.sum;
        beam.score = score(h.sum, n_tokens);
        beam.reason = reason;
        beam.logits_sha256 = hash.hex();
        ended_.push_back(beam);
        std::stable_sort(ended_.begin(), ended_.end(),
                         [](const Beam& a, const Beam& b) { return a.score > b.score; });
        if (ended_.size() > params_.n_beams) ended_.pop_back();
    }

    std::vector<Hypothesis> step(const std::vector<TokenId>& prompt,
                                 const std::vector<Hypothesis>& running, uint32_t n) {
        std::vector<WayOn> ways;
        std::vector<std::vector<float>> rows;
        for (size_t k = 0; k < running.size(); ++k) {
            rows.push_back(cold_logits_(joined(prompt, running[k].ids)));
            const double log_sum = log_sum_exp(rows[k]);
            for (size_t v = 0; v < rows[k].size(); ++v) {
                if (rows[k][v] == -std::numeric_limits<float>::infinity()) continue;
                const double logprob = rows[k][v] - log_sum;
                ways.push_back({running[k].sum + logprob, logprob, k, static_cast<TokenId>(v)});
            }
        }
        std::sort(ways.begin(), ways.end(), [](const WayOn& a, const WayOn& b) {
            return std::tuple(-a.sum, a.parent, a.token) < std::tuple(-b.sum, b.parent, b.token);
        });
        const size_t n_ways = std::max<size_t>(2, 1 + limits_.end_tokens.size()) * params_.n_beams;
        std::vector<Hypothesis> next;
        for (size_t rank = 0; rank < std::min(n_ways, ways.size()); ++rank) {
            if (next.size() == params_.n_beams) break;
            const WayOn& way = ways[rank];
            Hypothesis child = running[way.parent];
            child.sum = way.sum;
            const bool is_end_token =
                std::count(limits_.end_tokens.begin(), limits_.end_tokens.end(), way.token) > 0;
            if (!is_end_token) {
                child.ids.push_back(way.token);
                child.logprobs.push_back(static_cast<float>(way.logprob));
                child.rows.push_back(rows[way.parent]);
            }
            if (is_end_token || (limits_.stops && limits_.stops(child.ids))) {
                if (rank < params_.n_beams) end(child, n, FinishReason::stop);
            } else {
                next.push_back(child);
            }
        }
        return next;
    }

    ColdLogits cold_logits_;
    BeamParams params_;
    NaiveBeamLimits limits_;
    std::vector<Beam> ended_;
};

}  // namespace kvik
