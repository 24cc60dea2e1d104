// LedgerPoint and MarkedRuns: a stretch of text that went through the engine, and beside it the
// exact ids it had: what it adds to the text before it. Conversations share the points that they
// have in common.
//
//   "<s>user: Hello</s><s>assistant:"   "Hanzi"   "</s><s>user: Again</s><s>assistant:"
//                            prompt <----- answer <-------------------------------- prompt
//                                ^------- answer     another one to the same prompt
//
// Shape     a point begins where the one before it ends, or earlier: at the end of one of its ids.
//           MarkedRuns is a marked text in several stretches, read as one.
// Owner     a point shares the points before it; MarkedRuns borrow the text.
// Threads   a point is immutable once it is shared (LedgerPointRef); the functions are stateless.
// Cost      a chain is walked by points, not by tokens. compare is linear in the common bytes.
// Invariant texts are ordered by their bytes, and where these are the same by who wrote them: a
//           byte that a user wrote is never equal to the same byte of the template.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace kvik {

struct MarkedRun {
    std::string_view bytes;
    std::span<const ByteRange> untrusted;  // of the bytes; may reach beyond them
};
using MarkedRuns = std::vector<MarkedRun>;

MarkedRun run_of(const MarkedText& text);

struct Comparison {
    size_t n_common = 0;  // bytes until one ends or they differ
    std::strong_ordering order = std::strong_ordering::equal;
};
Comparison compare(const MarkedRuns& a, const MarkedRuns& b);

// Returns the bytes [begin, end) as a text of their own.
MarkedText part_of(const MarkedRuns& runs, size_t begin, size_t end);

struct LedgerPoint;
using LedgerPointRef = std::shared_ptr<const LedgerPoint>;

// A position in the text up to a point: so many bytes and tokens from the start.
struct LedgerPlace {
    LedgerPointRef point;  // it stands in this one, not at its start; null: at the very start
    size_t n_bytes = 0;
    uint32_t n_tokens = 0;
};

// answer: the ids were picked one after another, so the text may be cut after any of them; prompt:
// the ids are those that the tokenizer gives the whole text.
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

// Return all text up to the end of a point, and its ids.
MarkedRuns runs_of(const LedgerPoint& point);
std::vector<TokenId> ids_of(const LedgerPoint& point);

// Where one of a point's ids ends in its text.
struct TokenEnd {
    size_t n_bytes = 0;
    uint32_t n_tokens = 0;
};
// Returns the ends of the ids of a point, as far as each can be matched with a part of the text,
// and the end of the point.
std::vector<TokenEnd> token_ends(const LedgerPoint& point, const Tokenizer& tokenizer);

}  // namespace kvik
