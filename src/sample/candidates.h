// Candidates: the tokens that may still be drawn, and the cuts that make them fewer.
//
// Invariant every cut keeps a prefix of one total order (logit descending, then id ascending), and
//         sum_exps are integers: the kept set depends neither on the order of the list nor on how a
//         library selects.
// Cost    linear in what is looked at: selection, never a full sort.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/types.h"
#include "sample/row.h"

namespace kvik {

struct Candidate {
    uint64_t weight = 0;  // fixed_weight; 0 until top-p needs it
    float logit = 0;      // after penalties and bias
    TokenId id = 0;
};

// The order of likelihood.
inline bool is_before(const Candidate& a, const Candidate& b) noexcept {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// The distribution that weights belong to.
struct Tempered {
    float max = 0;  // of the row, finite
    float temperature = 1;
};

// exp((l - max) / T) * 2^44, rounded; relative error under 1e-6 for what matters. 2^44 a token
// leaves room for 2^19 tokens in a sum of 64 bits.
inline constexpr int kWeightBits = 44;
inline constexpr uint32_t kMaxWeights = 1u << 19;
uint64_t fixed_weight(const Tempered& tempered, float logit) noexcept;

uint64_t sum_fixed_weights(const Tempered& tempered, const TiledRow& row) noexcept;

// Bounds of that sum, from the sum_exps of the row's tiles at this temperature, as they were before
// any patch, without the logits: they are 1.2e-5 of it and a unit a token apart.
struct TotalWeight {
    uint64_t low = 0;
    uint64_t high = 0;
};
TotalWeight estimate_fixed_weights(const Tempered& tempered, const TiledRow& row,
                                   std::span<const float> sum_exps) noexcept;

// Mass that top-p asks for: p of the total, at least 1.
uint64_t top_p_target(float top_p, uint64_t total) noexcept;

// The limit that keeps all but forbidden tokens (-inf).
inline constexpr float kLowestLogit = std::numeric_limits<float>::lowest();

// All logits >= limit, ids ascending.
void gather_from(const TiledRow& row, float limit, std::vector<Candidate>& out);
// The k first of the order among the logits >= limit. k >= 1.
void gather_top_k(const TiledRow& row, uint32_t k, float limit, std::vector<Candidate>& out);
// What top-p keeps of a whole row whose fixed weights sum to something between the bounds; the sum
// is taken only if it matters where.
void gather_top_p(const TiledRow& row, const Tempered& tempered, float top_p, TotalWeight total,
                  std::vector<Candidate>& out);
// Keeps the smallest prefix of the order whose weights reach `target`; all if they do not.
void keep_mass(uint64_t target, std::vector<Candidate>& candidates);
// Keeps what has at least min_p of the likeliest token's probability; min_p > 0.
void keep_min_p(const Tempered& tempered, float min_p, std::vector<Candidate>& candidates);

// A logit under which (l - max) / T < log_ratio for sure: what a scan may leave out. It is a little
// low, so that an exact test must follow.
float limit_below(const Tempered& tempered, double log_ratio) noexcept;

}  // namespace kvik
