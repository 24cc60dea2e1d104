// LedgerPoint: a stretch of text that went through the engine, and beside it the exact ids it had:
// what it adds to the text before it. Conversations share the points that they have in common.
//
//   "<s>user: Hello</s><s>assistant:"   "Hanzi"   "</s><s>user: Again</s><s>assistant:"
//                            prompt <----- answer <-------------------------------- prompt
//                                ^------- answer     another one to the same prompt
//
// Shape     a point begins where the one before it ends, or earlier: at the end of one of its ids.
// Owner     the points before it.   Threads  immutable once shared (LedgerPointRef).
// Cost      a chain is walked by points, not by tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/ledger/marked_runs.h"

namespace kvik {

struct LedgerPoint;
using LedgerPointRef = std::shared_ptr<const LedgerPoint>;

// A place in the text up to a point: so many bytes and tokens from the start.
struct LedgerPlace {
    LedgerPointRef point;  // it stands in this one, not at its start; null: at the very start
    size_t n_bytes = 0;
    uint32_t n_tokens = 0;
};

// answer: its ids were picked one after another, and each is right wherever the text is cut after
// it; prompt: they are the tokenizer's own, of the whole.
enum class PointKind : uint8_t { prompt, answer };

struct LedgerPoint {
    LedgerPoint(PointKind its_kind, LedgerPlace its_begin, MarkedText its_text,
                std::vector<TokenId> its_ids)
        : kind(its_kind),
          begin(std::move(its_begin)),
          text(std::move(its_text)),
          ids(std::move(its_ids)) {}
    ~LedgerPoint();
    LedgerPoint(const LedgerPoint&) = delete;
    LedgerPoint& operator=(const LedgerPoint&) = delete;

    PointKind kind;
    LedgerPlace begin;
    MarkedText text;
    std::vector<TokenId> ids;

    size_t end_bytes() const { return begin.n_bytes + text.text.size(); }
    uint32_t end_tokens() const { return begin.n_tokens + static_cast<uint32_t>(ids.size()); }
};

LedgerPlace end_of(LedgerPointRef point);

// All text up to the end of a point, and its ids.
MarkedRuns runs_of(const LedgerPoint& point);
std::vector<TokenId> ids_of(const LedgerPoint& point);

// Where a point's ids end in its text, as far as they can be told to be parts of it one by one, and
// at its end.
struct TokenEnd {
    size_t n_bytes = 0;
    uint32_t n_tokens = 0;
};
std::vector<TokenEnd> token_ends(const LedgerPoint& point, const Tokenizer& tokenizer);

}  // namespace kvik
