#include "testing/trace.h"

#include <fmt/format.h>

#include <array>
#include <random>
#include <string_view>

namespace kvik {

struct OpRow {
    OpKind kind;
    std::string_view name;
    uint32_t weight;
};

static constexpr std::array kOps = {
    OpRow{OpKind::start, "start", 12},
    OpRow{OpKind::compute, "compute", 30},
    OpRow{OpKind::abort, "abort", 3},
    OpRow{OpKind::draft, "draft", 6},
    OpRow{OpKind::rewind, "rewind", 5},
    OpRow{OpKind::fork, "fork", 5},
    OpRow{OpKind::publish, "publish", 14},
    OpRow{OpKind::store_logits, "store_logits", 8},
    OpRow{OpKind::remap, "remap", 3},
    OpRow{OpKind::drop, "drop", 10},
    OpRow{OpKind::hold, "hold", 3},
    OpRow{OpKind::release, "release", 3},
    OpRow{OpKind::pin, "pin", 2},
    OpRow{OpKind::unpin, "unpin", 3},
    OpRow{OpKind::evict, "evict", 8},
    OpRow{OpKind::release_shared, "release_shared", 2},
    OpRow{OpKind::pin_until, "pin_until", 2},
    OpRow{OpKind::tick, "tick", 4},
    OpRow{OpKind::forget, "forget", 2},
    OpRow{OpKind::save, "save", 8},
    OpRow{OpKind::load_back, "load_back", 8},
    OpRow{OpKind::lose, "lose", 1},
    OpRow{OpKind::drop_tier, "drop_tier", 1},
    OpRow{OpKind::read_index, "read_index", 3},
};

std::vector<Op> random_trace(uint64_t seed, uint32_t n_ops) {
    std::mt19937_64 random(seed);
    const auto number = [&random] { return static_cast<uint32_t>(random()); };
    std::vector<OpKind> bag;
    for (const OpRow& row : kOps) bag.insert(bag.end(), row.weight, row.kind);
    std::vector<Op> trace(n_ops);
    for (Op& op : trace) {
        op.kind = bag[number() % bag.size()];
        op.who = number();
        op.how_many = number();
        op.what = number();
    }
    return trace;
}

std::string to_string(const Op& op) {
    for (const OpRow& row : kOps)
        if (row.kind == op.kind)
            return fmt::format("{} who={} how_many={} what={}", row.name, op.who, op.how_many,
                               op.what);
    return "no operation";
}

}  // namespace kvik
