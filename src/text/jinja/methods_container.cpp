// The methods of lists, dicts and loops.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/builtin.h"
#include "text/jinja/compare.h"
#include "text/jinja/print.h"
#include "text/jinja/sequence.h"

namespace kvik::jinja {
namespace {

// A tuple has the methods that look, not those that change.
Result<List*> changeable(const Args& args) {
    List* list = args.self.list();
    if (list->form == List::Form::tuple) return type_error("a tuple cannot be changed");
    KVIK_TRY_VOID(args.heap.budget().steps());
    return list;
}

Result<Value> append(const Args& args) {
    KVIK_TRY(List* const list, changeable(args));
    list->items.push_back(args.at(0));
    return Value(None{});
}

Result<Value> extend(const Args& args) {
    KVIK_TRY(List* const list, changeable(args));
    KVIK_TRY(const std::vector<Value> items, items_of(args.heap, args.at(0)));
    list->items.insert(list->items.end(), items.begin(), items.end());
    return Value(None{});
}

Result<Value> insert(const Args& args) {
    KVIK_TRY(List* const list, changeable(args));
    KVIK_TRY(int64_t at, args.integer(0, 0));
    const auto n = static_cast<int64_t>(list->items.size());
    KVIK_TRY_VOID(args.heap.budget().bytes(list->items.size()));
    at = std::clamp(at < 0 ? at + n : at, int64_t{0}, n);
    list->items.insert(list->items.begin() + at, args.at(1));
    return Value(None{});
}

Result<Value> pop_item(const Args& args) {
    KVIK_TRY(List* const list, changeable(args));
    const auto n = static_cast<int64_t>(list->items.size());
    KVIK_TRY(int64_t at, args.integer(0, -1));
    if (at < 0) at += n;
    if (at < 0 || at >= n) return type_error("pop takes an item that is not there");
    KVIK_TRY_VOID(args.heap.budget().bytes(static_cast<uint64_t>(n - at)));
    Value item = std::move(list->items[static_cast<size_t>(at)]);
    list->items.erase(list->items.begin() + at);
    return item;
}

Result<Value> index(const Args& args) {
    const std::vector<Value>& items = args.self.list()->items;
    for (size_t i = 0; i < items.size(); ++i) {
        KVIK_TRY(const bool same, equal(args.heap, items[i], args.at(0)));
        if (same) return Value(static_cast<int64_t>(i));
    }
    return type_error("index of an item that is not there");
}

Result<Value> count(const Args& args) {
    int64_t n = 0;
    for (const Value& item : args.self.list()->items) {
        KVIK_TRY(const bool same, equal(args.heap, item, args.at(0)));
        n += same;
    }
    return Value(n);
}

Result<Value> copy_list(const Args& args) {
    KVIK_TRY_VOID(changeable(args));
    return list_of(args.heap, args.self.list()->items);
}

Result<Value> get(const Args& args) {
    KVIK_TRY(const std::string key, key_of(args.heap.budget(), args.at(0)));
    if (const Value* found = args.self.dict()->find_key(key)) return *found;
    return args.has(1) ? args.at(1) : Value(None{});
}

Result<Value> items(const Args& args) {
    std::vector<Value> pairs;
    for (const Dict::Entry& entry : args.self.dict()->entries()) {
        KVIK_TRY(Value pair, pair_of(args.heap, entry.key, entry.value));
        pairs.push_back(std::move(pair));
    }
    return list_of(args.heap, std::move(pairs));
}

Result<Value> keys(const Args& args) {
    KVIK_TRY(std::vector<Value> all, items_of(args.heap, args.self));
    return list_of(args.heap, std::move(all));
}

Result<Value> values(const Args& args) {
    std::vector<Value> all;
    for (const Dict::Entry& entry : args.self.dict()->entries()) all.push_back(entry.value);
    return list_of(args.heap, std::move(all));
}

Result<Value> pop_entry(const Args& args) {
    Dict* dict = args.self.dict();
    KVIK_TRY(const std::string key, key_of(args.heap.budget(), args.at(0)));
    KVIK_TRY_VOID(args.heap.budget().steps(dict->entries().size()));
    if (const Value* found = dict->find_key(key)) {
        const Value value = *found;
        dict->erase(key);
        return value;
    }
    if (args.has(1)) return args.at(1);
    KVIK_TRY(const StrPtr name, to_str(args.heap, args.at(0)));
    return type_error(fmt::format("pop takes a key that is not there: '{}'", name->view()));
}

Result<Value> update(const Args& args) {
    const Value& given = args.at(0);
    const Dict* from = given.dict();
    if (!from) return type_error(fmt::format("update needs a dict, not {}", given.type_name()));
    KVIK_TRY_VOID(args.heap.budget().steps(from->entries().size()));
    const std::vector<Dict::Entry> entries = from->entries();
    for (const Dict::Entry& entry : entries) {
        KVIK_TRY(const std::string key, key_of(args.heap.budget(), entry.key));
        args.self.dict()->set(key, entry.key, entry.value);
    }
    return Value(None{});
}

Result<Value> copy(const Args& args) {
    KVIK_TRY_VOID(args.heap.budget().steps(args.self.dict()->entries().size()));
    Dict* made = args.heap.dict();
    *made = *args.self.dict();
    return Value(made);
}

Result<Value> cycle(const Args& args) {
    const Loop& loop = **args.self.get_if<Loop*>();
    const std::vector<Value>& choices = args.given.positional;
    if (choices.empty()) return type_error("cycle needs values to go through");
    return choices[loop.index % choices.size()];
}

// Whether it is given other values than the last time.
Result<Value> changed(const Args& args) {
    Loop& loop = **args.self.get_if<Loop*>();
    const std::vector<Value>& now = args.given.positional;
    bool same = loop.asked && loop.seen.size() == now.size();
    for (size_t i = 0; same && i < now.size(); ++i) {
        KVIK_TRY(same, equal(args.heap, loop.seen[i], now[i]));
    }
    loop.seen = now;
    loop.asked = true;
    return Value(!same);
}

constexpr Builtin kListRows[] = {
    {"append", "item", append},  {"copy", "", copy_list},  {"count", "item", count},
    {"extend", "items", extend}, {"index", "item", index}, {"insert", "at item", insert},
    {"pop", "at?", pop_item},
};

constexpr Builtin kDictRows[] = {
    {"copy", "", copy},     {"get", "key default?", get},       {"items", "", items},
    {"keys", "", keys},     {"pop", "key default?", pop_entry}, {"update", "other", update},
    {"values", "", values},
};

constexpr Builtin kLoopRows[] = {
    {"changed", "*", changed},
    {"cycle", "*", cycle},
};

}  // namespace

std::span<const Builtin> list_methods() {
    return kListRows;
}

std::span<const Builtin> dict_methods() {
    return kDictRows;
}

std::span<const Builtin> loop_methods() {
    return kLoopRows;
}

}  // namespace kvik::jinja
