// LogitsStore: rows of logits kept at exact keys of the prefix tree, under a budget in bytes, so
// that a prompt that is cached to its end costs no forward pass.
//
// Owner   copies of the rows. A key is (node, rows): after the first n_rows tokens of a node.
// Cost    O(log n) a call, plus the copy of a row in put.
// Invariant n_bytes() <= budget, also with one entry: a row that alone exceeds it is refused. The
//         least recently used rows make room for a new one.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace kvik {

struct LogitsKey {
    uint32_t node = 0;
    uint32_t n_rows = 0;
    auto operator<=>(const LogitsKey&) const = default;
};

class LogitsStore {
  public:
    explicit LogitsStore(uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

    bool put(LogitsKey key, std::span<const float> row);  // replaces what was there
    std::span<const float> find(LogitsKey key) const;     // empty: nothing stored
    void use(LogitsKey key);                              // most recent now, if stored

    // Rows stored after at most max_rows tokens of a node move to another that begins the same.
    struct Move {
        uint32_t from = 0, to = 0, max_rows = 0;
    };
    void move(const Move& move);
    void drop(uint32_t node);  // everything stored there

    uint64_t n_bytes() const { return n_bytes_; }
    void check_invariants() const;

  private:
    struct Row {
        uint64_t last_use = 0;
        std::vector<float> logits;
    };
    using Rows = std::map<LogitsKey, Row>;
    Rows::iterator erase(Rows::iterator row);

    uint64_t budget_bytes_;
    uint64_t n_bytes_ = 0;
    uint64_t tick_ = 0;
    Rows rows_;
    std::map<uint64_t, LogitsKey> by_use_;  // last_use -> key, oldest first
};

}  // namespace kvik
