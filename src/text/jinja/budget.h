// Budget: what one render may spend; a template is a stranger's program.
//
// Cost      one addition and one comparison a charge.
// Invariant once anything is overspent every later charge fails too.
// Errors    ErrorKind::failed, naming the limit.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace kvik::jinja {

struct Limits {
    uint64_t source_bytes = 256 * 1024;
    uint64_t n_steps = 1'000'000;         // nodes evaluated, elements touched
    uint64_t string_bytes = 16ull << 20;  // the output, and every string on the way to it
    uint64_t work_bytes = 128ull << 20;   // bytes built or searched, all operations together
    uint32_t depth = 128;                 // of nesting: source, calls, values
};

class Budget {
  public:
    explicit Budget(const Limits& limits) : limits_(limits) {}

    const Limits& limits() const { return limits_; }
    bool spend_steps(uint64_t n) { return spend(n_steps_, n, limits_.n_steps); }
    bool spend_bytes(uint64_t n) { return spend(n_bytes_, n, limits_.work_bytes); }
    bool exhausted() const { return exhausted_; }
    Result<void> steps(uint64_t n = 1);
    Result<void> bytes(uint64_t n);
    tl::unexpected<Error> overspent() const;  // the error for a charge that failed

  private:
    bool spend(uint64_t& spent, uint64_t n, uint64_t limit) {
        if (n > limit - spent) {
            exhausted_ = true;
            spent = limit;
        } else {
            spent += n;
        }
        return !exhausted_;
    }

    Limits limits_;
    uint64_t n_steps_ = 0;
    uint64_t n_bytes_ = 0;
    bool exhausted_ = false;
};

}  // namespace kvik::jinja
