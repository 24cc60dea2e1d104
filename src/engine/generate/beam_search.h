// BeamSearch: decides which hypotheses of a beam search go on. Rows of logits go in, moves come
// out; it knows neither cache nor text.
//
// Use     take_row() for every beam, in any order; when all have come, advance(). Beam k is then
//         what moves()[k] made of an earlier beam. At first there is one beam, the bare prompt.
// Score   sum of log p(token) / n^length_penalty, where n counts the picked tokens and an end
//         token.
// Rule    of the max(2, 1 + end tokens) x B likeliest continuations, those that end are kept if
//         they are among the first B, and the first B others go on. The search is over when B have
//         ended and the best beam, were it to end now, would score no more than the worst of them;
//         or at max_tokens.
// Source  beam search of Hugging Face Transformers (generation/utils.py) with early_stopping=False.
// Owner   hypotheses and candidates.
// Threads one at a time.
// Cost    per step a pass over the tiles of each row, and a sort of B candidate lists; it
//         allocates.
// Errors  take_row: a row with NaN or +inf, or only -inf: failed, naming the position.
// Invariant of equal sums the lower parent goes first, then the lower id; of equal scores the
//         older.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/digest.h"
#include "base/logit_tiles.h"
#include "base/result.h"
#include "kvik/kvik.h"

namespace kvik {

struct BeamSearchOptions {
    BeamParams params;
    uint32_t n_end_tokens = 0;
    uint32_t max_tokens = 0;
    bool wants_logits_hash = false;
};

class BeamSearch {
  public:
    enum class Ending : uint8_t { none, without_token, with_token };
    struct Move {
        uint32_t parent = 0;
        TokenId token = 0;
        bool operator==(const Move&) const = default;
    };
    // Tells whether beam `parent` ends with this token, and whether the token is part of the
    // answer.
    using Ends = std::function<Ending(const Move&)>;
    struct Row {
        std::span<const float> logits;  // [vocab_size]
        LogitTiles tiles = {};          // of the logits; empty: take_row computes the maxima
        uint32_t position = 0;          // of the token to be picked
    };

    explicit BeamSearch(const BeamSearchOptions& options);

    uint32_t n_beams() const { return static_cast<uint32_t>(beams_.size()); }  // that go on
    Result<void> take_row(uint32_t beam, const Row& row);
    bool has_all_rows() const;
    void forget_rows();  // drops the rows that came; all must come again
    void advance(const Ends& ends);
    std::span<const Move> moves() const { return moves_; }
    std::span<const Move> ends() const { return ends_; }  // kept by advance()

    void stop(FinishReason reason);  // ends all beams as they are
    bool is_over() const { return beams_.empty(); }
    // Returns the hypotheses that have ended, best first, at most B, without their text.
    std::vector<Beam> results() const;

    // Returns the score of a hypothesis.
    static double score(double sum_logprob, uint32_t n_tokens, double length_penalty);

  private:
    static constexpr uint32_t kNone = UINT32_MAX;

    struct Option {
        double sum = 0;  // of the log-probabilities up to and with this token
        double logprob = 0;
        Move move;
    };
    // A token and the one before it: hypotheses share what they have in common.
    struct Pick {
        uint32_t before = kNone;
        TokenId token = 0;
        float logprob = 0;
    };
    struct Running {
        double sum = 0;
        uint32_t last = kNone;  // pick
        bool has_row = false;
        std::vector<Option> options;             // of its row, once it has one
        std::optional<Sha256> hash, hash_after;  // of the rows before this one, and with it
    };
    struct Ended {
        double score = 0, sum = 0;
        uint32_t last = kNone;
        FinishReason reason = FinishReason::stop;
        std::string hash;
    };

    static bool is_before(const Option& a, const Option& b);
    uint32_t n_options() const;
    void gather(const Row& row, uint32_t beam, double log_sum);
    void rank_options();
    uint32_t add_pick(const Option& option);
    Running child_of(const Option& option);
    void end(Ended ended);
    bool cannot_improve() const;

    BeamSearchOptions options_;
    uint32_t n_tokens_ = 0;  // picked by each beam
    std::vector<Running> beams_;
    std::vector<Move> moves_, ends_;
    std::vector<Option> ranked_;
    std::vector<float> maxima_;
    std::vector<Pick> picks_;
    std::vector<Ended> ended_;  // best first
};

}  // namespace kvik
