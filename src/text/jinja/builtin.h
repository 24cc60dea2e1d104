// Builtins: the filters, tests, methods and functions that a template can call, as table rows.
//
// Add one   write the function and its row in the table of its file; nothing else.
// Shape     `parameters` names what a call may give, in order: "old new count?"; a question mark
//           makes one optional, "*" alone takes anything and reads it from `given`.
// Owner     the tables are constants.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/call_args.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

// One call: the value it is applied to, and its arguments by the place of their parameter.
struct Args {
    Heap& heap;
    const Value& self;
    const CallArgs& given;
    std::vector<const Value*> slots;  // null: not given

    bool has(size_t i) const { return slots[i] != nullptr; }
    Value at(size_t i) const { return has(i) ? *slots[i] : Value(); }
    bool flag(size_t i) const { return has(i) && slots[i]->truthy(); }
    Result<int64_t> integer(size_t i, int64_t otherwise) const;
    // None counts as not given.
    Result<StrPtr> text(size_t i, std::string_view otherwise) const;
};

struct Builtin {
    std::string_view name;
    std::string_view parameters;
    Result<Value> (*function)(const Args&);
};

Result<Value> call(Heap& heap, const Builtin& builtin, const Value& self, const CallArgs& given);

// Null when there is none of that name.
const Builtin* find_filter(std::string_view name);
const Builtin* find_test(std::string_view name);
const Builtin* find_method(const Value& self, std::string_view name);
std::span<const Builtin> functions();  // the names every template sees

// The tables, one a file.
std::span<const Builtin> text_filters();
std::span<const Builtin> sequence_filters();
std::span<const Builtin> choice_filters();
std::span<const Builtin> value_filters();
std::span<const Builtin> tests();
std::span<const Builtin> text_methods();
std::span<const Builtin> list_methods();
std::span<const Builtin> dict_methods();
std::span<const Builtin> loop_methods();

}  // namespace kvik::jinja
