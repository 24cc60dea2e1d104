// WorkShare: which of the n items of a phase a worker computes: its share of the first nine tenths,
// then pieces of the rest, for as long as there are any.
//
// Use     one WorkShare a worker over one counter that begins at 0; each phase calls each() once,
//         by every worker with the same n, and the next phase begins after a barrier.
// Cost    a shared addition for each piece of the rest; no resetting between phases. Each piece
//         begins with weights that nobody fetched early: with a fifth in pieces a quarter as large
//         a step of 8 rows took 6 % longer than with a tenth in one piece a worker.
// Invariant every item goes to exactly one worker. Who that is depends on the weather: nothing that
//         an item computes may.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/thread_pool.h"

namespace kvik {

// Items [begin, end).
struct ItemRange {
    uint32_t begin, end;
};
// Returns the items [0, n) that are worker w's: one range per worker, contiguous and in order.
inline ItemRange share(Worker w, uint32_t n) {
    return {static_cast<uint32_t>(uint64_t{n} * w.index() / w.count()),
            static_cast<uint32_t>(uint64_t{n} * (w.index() + 1) / w.count())};
}

class WorkShare {
  public:
    WorkShare(Worker worker, std::atomic<uint32_t>& taken) : worker_(worker), taken_(taken) {}

    // run(ItemRange) for all that falls to this worker.
    template <class Run>
    void each(uint32_t n_items, const Run& run) {
        const uint32_t n_rest = worker_.count() == 1 ? 0 : n_items / 10;
        const ItemRange own = share(worker_, n_items - n_rest);
        if (own.begin < own.end) run(own);
        if (worker_.count() == 1) return;
        const uint32_t piece = std::max(1u, n_rest / worker_.count());
        const uint32_t n_pieces = (n_rest + piece - 1) / piece;
        for (;;) {
            const uint32_t i = taken_.fetch_add(1, std::memory_order_relaxed) - base_;
            if (i >= n_pieces) break;
            const uint32_t begin = n_items - n_rest + i * piece;
            run(ItemRange{begin, std::min(begin + piece, n_items)});
        }
        base_ += n_pieces + worker_.count();  // every worker is refused once
    }

  private:
    Worker worker_;
    std::atomic<uint32_t>& taken_;
    uint32_t base_ = 0;  // of the counter, in this phase
};

}  // namespace kvik
