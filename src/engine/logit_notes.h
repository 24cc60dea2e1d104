// LogitNotes: what a forward is to note of its rows of logits, and the room for it.
//
// Use     begin(), add() each sequence's rows in the order of the batch, then rows().
// Shape   for each row at most three numbers a tile of 16 logits.
// Cost    allocates at open only; memory that no request needs is never touched.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/logit_tiles.h"
#include "kvik/kvik.h"

namespace kvik {

class LogitNotes {
  public:
    LogitNotes(uint32_t n_rows, uint32_t vocab_size);

    void begin() { rows_.clear(); }
    // n rows of logits of one request; a token is picked from the last one at most.
    void add(const GenerateRequest& request, uint32_t n);
    std::span<const LogitTiles> rows(uint64_t first, uint64_t n) const {
        return std::span(rows_).subspan(first, n);
    }

  private:
    uint32_t vocab_size_;
    std::unique_ptr<float[]> room_;  // [n_rows][3][n_tiles]
    std::vector<LogitTiles> rows_;
};

}  // namespace kvik
