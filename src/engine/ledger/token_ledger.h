// TokenLedger: the exact ids of the text that an engine has seen, found again by that text. A
// conversation that is sent again as messages goes on with the ids that were picked as far as its
// text is the same, and is tokenised anew from there.
//
// Use     encode() a rendered prompt; add_answer() when its stream has ended.
// Owner   its points, shared with the conversations that go on from them; borrows the tokenizer.
// Threads any.
// Cost    encode and add_answer: O(log points) comparisons of text, then the ids of one point and,
//         for what is new, tokenising and a digest of all ids up to its end.
// Errors  none: text that is not found is tokenised.
// Room    max_bytes of text, ids and what finds them. The least recently used end of a conversation
//         goes first. 0: nothing is found but what the caller still holds.
// Invariant text is found byte by byte, with who wrote each byte. The seam is where the tokenizer
//         says that texts split: after canonical ids come the canonical ids of the rest.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "engine/ledger/ledger_point.h"

namespace kvik {

struct LedgerStats {
    uint64_t n_bytes = 0;   // of max_bytes
    uint32_t n_points = 0;  // remembered
    uint64_t n_forgotten = 0;
};

class TokenLedger {
  public:
    // Borrows the tokenizer.
    TokenLedger(const Tokenizer& tokenizer, uint64_t max_bytes);

    struct Prompt {
        LedgerPointRef point;        // its end is the prompt's
        uint32_t n_kept_tokens = 0;  // of the prompt's, those that were not tokenised anew
    };
    // Returns the ids of a rendered prompt and remembers them. `known`: a point to compare with
    // beside those that the ledger remembers; may be null.
    Prompt encode(const MarkedText& text, const LedgerPointRef& known);
    // Returns the remembered point of a prompt with exactly these ids; null: there is none.
    LedgerPointRef find_prompt(std::span<const TokenId> ids) const;
    // Adds the answer to a prompt, as far as the text is that of the ids: up to a control token or
    // a stop string.
    LedgerPointRef add_answer(const LedgerPointRef& prompt, std::span<const TokenId> ids,
                              std::string_view text);
    LedgerStats stats() const;

  private:
    struct ByText {
        using is_transparent = void;
        bool operator()(const LedgerPoint* a, const LedgerPoint* b) const;
        bool operator()(const LedgerPoint* a, const MarkedRuns& b) const;
        bool operator()(const MarkedRuns& a, const LedgerPoint* b) const;
    };
    using Ends = std::multiset<const LedgerPoint*, ByText>;
    struct Entry {
        LedgerPointRef point;
        uint32_t n_after = 0;               // points that begin in it
        uint64_t last_use = 0;              // each its own
        std::string ids_digest;             // of all ids up to its end
        std::optional<Ends::iterator> end;  // nothing begins in it
    };
    struct Known {
        LedgerPointRef point;
        size_t n_common = 0;  // bytes
    };
    Known find(const MarkedText& text, const LedgerPointRef& known);
    LedgerPlace last_seam(const Known& known, const MarkedText& text) const;
    LedgerPointRef add(LedgerPointRef point);
    const LedgerPoint* find_same(const LedgerPoint& point, const std::string& digest) const;
    void use(const LedgerPoint* point);
    void make_end(Entry& entry);
    void make_inner(Entry& entry);
    void forget_oldest();

    const Tokenizer& tokenizer_;
    const uint64_t max_bytes_;
    mutable std::mutex mutex_;
    std::unordered_map<const LedgerPoint*, Entry> entries_;
    Ends ends_;
    std::map<uint64_t, const LedgerPoint*> by_use_;  // of the ends
    std::unordered_map<std::string, const LedgerPoint*> by_ids_;
    uint64_t clock_ = 0;
    uint64_t n_bytes_ = 0;
    uint64_t n_forgotten_ = 0;
};

}  // namespace kvik
