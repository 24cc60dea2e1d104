// LogitsStore: keeps rows of logits for exact ends of prompts in the prefix cache, under a budget
// in bytes, so that a prompt that is cached to its end costs no forward pass.
//
// Shape   a LogitsKey stands for the end of a prompt: after the first n_rows tokens of a node.
// Owner   copies of the rows.
// Threads the engine thread.
// Cost    O(log n) per call and per row that is moved, dropped or evicted; put also copies the row.
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

    // Stores a copy of the row, in place of one with this key. False: it exceeds the budget.
    bool put(LogitsKey key, std::span<const float> row);
    std::span<const float> find(LogitsKey key) const;  // empty: nothing is stored
    void use(LogitsKey key);                           // makes its row the most recent one

    // Moves the rows that are stored after at most max_rows tokens of a node to another node that
    // begins with the same tokens.
    struct Move {
        uint32_t from = 0, to = 0, max_rows = 0;
    };
    void move(const Move& move);
    void drop(uint32_t node);  // drops all rows of a node

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
