#include "cache/logits_store.h"

#include <utility>

#include "base/check.h"

namespace kvik {

// Bytes that the two maps need per row, besides the row: two tree nodes with their links.
static constexpr uint64_t kEntryBytes = 160;

static uint64_t row_bytes(size_t n_logits) {
    return n_logits * sizeof(float) + kEntryBytes;
}

bool LogitsStore::put(LogitsKey key, std::span<const float> row) {
    if (row.empty() || row_bytes(row.size()) > budget_bytes_) return false;
    std::vector<float> copy(row.begin(), row.end());  // first: `row` may be one of ours
    if (const auto old = rows_.find(key); old != rows_.end()) erase(old);
    while (n_bytes_ + row_bytes(copy.size()) > budget_bytes_)
        erase(rows_.find(by_use_.begin()->second));
    n_bytes_ += row_bytes(copy.size());
    rows_.emplace(key, Row{++tick_, std::move(copy)});
    by_use_.emplace(tick_, key);
    return true;
}

std::span<const float> LogitsStore::find(LogitsKey key) const {
    const auto row = rows_.find(key);
    if (row == rows_.end()) return {};
    return row->second.logits;
}

void LogitsStore::use(LogitsKey key) {
    const auto row = rows_.find(key);
    if (row == rows_.end()) return;
    by_use_.erase(row->second.last_use);
    row->second.last_use = ++tick_;
    by_use_.emplace(tick_, key);
}

void LogitsStore::move(const Move& move) {
    auto row = rows_.lower_bound({move.from, 0});
    while (row != rows_.end() && row->first.node == move.from &&
           row->first.n_rows <= move.max_rows) {
        auto entry = rows_.extract(row++);
        entry.key().node = move.to;
        by_use_[entry.mapped().last_use] = entry.key();
        KVIK_CHECK(rows_.insert(std::move(entry)).inserted, "logits of a prefix are stored once");
    }
}

void LogitsStore::drop(uint32_t node) {
    auto row = rows_.lower_bound({node, 0});
    while (row != rows_.end() && row->first.node == node) row = erase(row);
}

LogitsStore::Rows::iterator LogitsStore::erase(Rows::iterator row) {
    n_bytes_ -= row_bytes(row->second.logits.size());
    by_use_.erase(row->second.last_use);
    return rows_.erase(row);
}

void LogitsStore::check_invariants() const {
    uint64_t sum = 0;
    for (const auto& [key, row] : rows_) {
        sum += row_bytes(row.logits.size());
        const auto use = by_use_.find(row.last_use);
        KVIK_CHECK(use != by_use_.end() && use->second == key, "every row has its turn to go");
    }
    KVIK_CHECK(rows_.size() == by_use_.size(), "every turn to go is a row's");
    KVIK_CHECK(sum == n_bytes_, "the bytes of all rows are counted");
    KVIK_CHECK(n_bytes_ <= budget_bytes_, "logits stay within their budget");
}

}  // namespace kvik
