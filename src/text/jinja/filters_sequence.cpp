#include <algorithm>
#include <optional>
#include <set>

#include "text/jinja/arithmetic.h"
#include "text/jinja/attribute.h"
#include "text/jinja/builtin.h"
#include "text/jinja/compare.h"
#include "text/jinja/print.h"
#include "text/jinja/sequence.h"
#include "text/jinja/text_ops.h"

namespace kvik::jinja {
namespace {

// What items are compared by: the item or its attributes, strings in lower case unless told.
class Keys {
  public:
    static Result<Keys> parse(const Args& args, size_t attribute, size_t case_sensitive) {
        Keys keys;
        keys.fold_ = !args.flag(case_sensitive);
        if (!args.has(attribute) || args.at(attribute).is<None>()) return keys;
        const Value path = args.at(attribute);
        std::string_view left = path.str() ? path.str()->view() : std::string_view();
        if (left.find(',') == left.npos) {
            KVIK_TRY(auto one, AttributePath::parse(path));
            keys.paths_.push_back(std::move(one));
            return keys;
        }
        for (size_t comma = 0; comma != left.npos; left.remove_prefix(comma + 1)) {
            comma = left.find(',');
            KVIK_TRY(auto one, AttributePath::parse(make_str(left.substr(0, comma))));
            keys.paths_.push_back(std::move(one));
            if (comma == left.npos) break;
        }
        return keys;
    }

    Result<std::vector<Value>> of(Heap& heap, const Value& item) const {
        std::vector<Value> out;
        for (const AttributePath& path : paths_) {
            KVIK_TRY(Value value, path.follow(heap, item));
            out.push_back(std::move(value));
        }
        if (paths_.empty()) out.push_back(item);
        for (Value& key : out) {
            if (fold_ && key.str()) {
                KVIK_TRY(key, in_case(heap, *key.str(), Case::lower));
            }
        }
        return out;
    }

  private:
    bool fold_ = false;
    std::vector<AttributePath> paths_;
};

struct Keyed {
    std::vector<Value> keys;
    Value item;
};

Result<std::vector<Keyed>> keyed_items(Heap& heap, const Keys& keys, const Value& from) {
    KVIK_TRY(std::vector<Value> items, items_of(heap, from));
    std::vector<Keyed> out;
    for (Value& item : items) {
        KVIK_TRY(std::vector<Value> key, keys.of(heap, item));
        out.push_back({std::move(key), std::move(item)});
    }
    return out;
}

Result<bool> before(Heap& heap, const Keyed& a, const Keyed& b) {
    for (size_t i = 0; i < a.keys.size(); ++i) {
        KVIK_TRY(const bool same, equal(heap, a.keys[i], b.keys[i]));
        if (same) continue;
        KVIK_TRY(const auto ordering, order(heap, a.keys[i], b.keys[i]));
        return ordering < 0;
    }
    return false;
}

enum class Direction : uint8_t { up, down };

// Stable both ways. After a failure every comparison says no, which ends any sorting algorithm.
Result<void> sort_keyed(Heap& heap, std::vector<Keyed>& items, Direction direction) {
    std::optional<Error> failure;
    std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) {
        if (failure) return false;
        const auto less = direction == Direction::up ? before(heap, a, b) : before(heap, b, a);
        if (!less) failure = less.error();
        return less && *less;
    });
    if (failure) return tl::unexpected<Error>(*failure);
    return {};
}

Result<Value> items_only(Heap& heap, std::vector<Keyed> keyed) {
    std::vector<Value> out;
    for (Keyed& each : keyed) out.push_back(std::move(each.item));
    return list_of(heap, std::move(out));
}

Result<Value> sort(const Args& args) {
    KVIK_TRY(const Keys keys, Keys::parse(args, 2, 1));
    KVIK_TRY(auto keyed, keyed_items(args.heap, keys, args.self));
    KVIK_TRY_VOID(sort_keyed(args.heap, keyed, args.flag(0) ? Direction::down : Direction::up));
    return items_only(args.heap, std::move(keyed));
}

Result<Value> unique(const Args& args) {
    KVIK_TRY(const Keys keys, Keys::parse(args, 1, 0));
    KVIK_TRY(auto keyed, keyed_items(args.heap, keys, args.self));
    std::set<std::string> seen;
    std::vector<Value> out;
    for (Keyed& each : keyed) {
        KVIK_TRY(std::string key, key_of(args.heap.budget(), each.keys[0]));
        if (seen.insert(std::move(key)).second) out.push_back(std::move(each.item));
    }
    return list_of(args.heap, std::move(out));
}

Result<Value> extreme(const Args& args, Direction direction) {
    KVIK_TRY(const Keys keys, Keys::parse(args, 1, 0));
    KVIK_TRY(auto keyed, keyed_items(args.heap, keys, args.self));
    if (keyed.empty()) return Value(Undefined{make_str("min or max of nothing")});
    size_t best = 0;
    for (size_t i = 1; i < keyed.size(); ++i) {
        const Value& mine = keyed[i].keys[0];
        KVIK_TRY(const auto ordering, order(args.heap, mine, keyed[best].keys[0]));
        if (direction == Direction::up ? ordering > 0 : ordering < 0) best = i;
    }
    return std::move(keyed[best].item);
}

Result<Value> min(const Args& args) {
    return extreme(args, Direction::down);
}

Result<Value> max(const Args& args) {
    return extreme(args, Direction::up);
}

Result<Value> dictsort(const Args& args) {
    const Dict* dict = args.self.dict();
    if (!dict) return type_error("dictsort needs a dict");
    KVIK_TRY(const StrPtr by, args.text(1, "key"));
    if (by->view() != "key" && by->view() != "value") {
        return type_error("dictsort sorts by \"key\" or by \"value\"");
    }
    std::vector<Keyed> keyed;
    for (const Dict::Entry& entry : dict->entries()) {
        KVIK_TRY(Value pair, pair_of(args.heap, entry.key, entry.value));
        Value key = by->view() == "key" ? entry.key : entry.value;
        if (!args.flag(0) && key.str()) {
            KVIK_TRY(key, in_case(args.heap, *key.str(), Case::lower));
        }
        keyed.push_back({{std::move(key)}, std::move(pair)});
    }
    KVIK_TRY_VOID(sort_keyed(args.heap, keyed, args.flag(2) ? Direction::down : Direction::up));
    return items_only(args.heap, std::move(keyed));
}

Result<Value> length(const Args& args) {
    KVIK_TRY(const int64_t n, length_of(args.self));
    return Value(n);
}

Result<Value> list(const Args& args) {
    KVIK_TRY(std::vector<Value> items, items_of(args.heap, args.self));
    return list_of(args.heap, std::move(items));
}

Result<Value> items(const Args& args) {
    std::vector<Value> pairs;
    if (args.self.is<Undefined>()) return list_of(args.heap, std::move(pairs));
    const Dict* dict = args.self.dict();
    if (!dict) return type_error("items needs a dict");
    for (const Dict::Entry& entry : dict->entries()) {
        KVIK_TRY(Value pair, pair_of(args.heap, entry.key, entry.value));
        pairs.push_back(std::move(pair));
    }
    return list_of(args.heap, std::move(pairs));
}

Result<Value> first(const Args& args) {
    KVIK_TRY(std::vector<Value> all, items_of(args.heap, args.self));
    if (all.empty()) return Value(Undefined{make_str("first of nothing")});
    return std::move(all.front());
}

Result<Value> last(const Args& args) {
    KVIK_TRY(std::vector<Value> all, items_of(args.heap, args.self));
    if (all.empty()) return Value(Undefined{make_str("last of nothing")});
    return std::move(all.back());
}

Result<Value> reverse(const Args& args) {
    if (args.self.str()) return slice_of(args.heap, args.self, {{}, {}, -1});
    KVIK_TRY(std::vector<Value> all, items_of(args.heap, args.self));
    std::reverse(all.begin(), all.end());
    return list_of(args.heap, std::move(all));
}

Result<Value> join(const Args& args) {
    KVIK_TRY(const StrPtr between, to_str(args.heap, args.has(0) ? args.at(0) : make_str("")));
    std::optional<AttributePath> path;
    if (args.has(1) && !args.at(1).is<None>()) {
        KVIK_TRY(path, AttributePath::parse(args.at(1)));
    }
    KVIK_TRY(const std::vector<Value> all, items_of(args.heap, args.self));
    TextBuilder out(args.heap.budget());
    for (size_t i = 0; i < all.size() && !out.full(); ++i) {
        if (i > 0) out.add(between->marked);
        Value item = all[i];
        if (path) {
            KVIK_TRY(item, path->follow(args.heap, item));
        }
        KVIK_TRY_VOID(print(args.heap, out, item));
    }
    return args.heap.string(out);
}

Result<Value> sum(const Args& args) {
    std::optional<AttributePath> path;
    if (args.has(0) && !args.at(0).is<None>()) {
        KVIK_TRY(path, AttributePath::parse(args.at(0)));
    }
    KVIK_TRY(const std::vector<Value> all, items_of(args.heap, args.self));
    Value total = args.has(1) ? args.at(1) : Value(int64_t{0});
    for (const Value& each : all) {
        Value item = each;
        if (path) {
            KVIK_TRY(item, path->follow(args.heap, item));
        }
        KVIK_TRY(total, apply(args.heap, Operator::add, total, item));
    }
    return total;
}

constexpr Builtin kRows[] = {
    {"count", "", length},
    {"dictsort", "case_sensitive? by? reverse?", dictsort},
    {"first", "", first},
    {"items", "", items},
    {"join", "d? attribute?", join},
    {"last", "", last},
    {"length", "", length},
    {"list", "", list},
    {"max", "case_sensitive? attribute?", max},
    {"min", "case_sensitive? attribute?", min},
    {"reverse", "", reverse},
    {"sort", "reverse? case_sensitive? attribute?", sort},
    {"sum", "attribute? start?", sum},
    {"unique", "case_sensitive? attribute?", unique},
};

}  // namespace

std::span<const Builtin> sequence_filters() {
    return kRows;
}

}  // namespace kvik::jinja
