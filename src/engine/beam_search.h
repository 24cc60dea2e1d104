// BeamSearch: rows of logits in, which hypotheses go on out. Pure: it knows neither cache nor text.
//
// Use     take_row() of every beam, in any order; once all have come, advance(). Then beam k is what
//         moves()[k] made of a beam there was before; at first there is one, the bare prompt.
// Score   sum of log p(token) / n^A, n the tokens picked, an end token being one of them.
// Rule    of the likeliest max(2, 1 + end tokens) x B ways on, those that end are kept if they are
//         among the first B, the first B others go on. It is over when B have ended and the best
//         beam, were it to end now, would score no more than the worst of them; or at the limit.
// Source  beam search of Hugging Face Transformers (generation/utils.py) with early_stopping=False.
// Cost    of a step: a pass over the tiles of each row and B x that many candidates to sort; it
//         allocates. Invariant  ties: the lower parent, then the lower id; of scores the older.
// Errors  a row with NaN or +inf, or all at -inf: failed, naming the position.
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
    // Whether beam `parent` ends with this token, and whether the token is part of the answer.
    using Ends = std::function<Ending(const Move&)>;
    struct Row {
        std::span<const float> logits;  // [vocab_size]
        LogitTiles tiles = {};          // of the logits; empty: they are found by a pass
        uint32_t position = 0;          // of the token to be picked
    };

    explicit BeamSearch(const BeamSearchOptions& options);

    uint32_t n_beams() const { return static_cast<uint32_t>(beams_.size()); }  // that go on
    Result<void> take_row(uint32_t beam, const Row& row);
    bool has_all_rows() const;
    void forget_rows();  // they will come again
    void advance(const Ends& ends);
    std::span<const Move> moves() const { return moves_; }
    std::span<const Move> ends() const { return ends_; }  // that advance() has kept

    void stop(FinishReason reason);  // those that go on end as they are
    bool is_over() const { return beams_.empty(); }
    // Of what has ended, best first; at most B. Their text is for others to make.
    std::vector<Beam> results() const;

    // A hypothesis's score.
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
