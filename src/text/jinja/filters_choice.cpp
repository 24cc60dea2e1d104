// map, select, reject and their like: filters that apply another filter or test to every item.
#include <fmt/format.h>

#include <optional>

#include "text/jinja/attribute.h"
#include "text/jinja/builtin.h"
#include "text/jinja/sequence.h"

namespace kvik::jinja {
namespace {

// A builtin named by an argument, with the arguments that follow the name.
struct Inner {
    const Builtin* builtin = nullptr;
    CallArgs args;
};

Result<Inner> inner_of(const CallArgs& given, size_t name_at,
                       const Builtin* (*find)(std::string_view)) {
    const Value& name = given.positional[name_at];
    Inner inner;
    inner.builtin = name.str() ? find(name.str()->view()) : nullptr;
    if (!inner.builtin) {
        return fail(ErrorKind::unsupported,
                    fmt::format("the filter or test '{}' is not supported",
                                name.str() ? name.str()->view() : name.type_name()));
    }
    inner.args.positional.assign(
        given.positional.begin() + static_cast<std::ptrdiff_t>(name_at) + 1,
        given.positional.end());
    inner.args.named = given.named;
    return inner;
}

Result<Value> map_attribute(const Args& args) {
    Value path;
    std::optional<Value> otherwise;
    for (const auto& [name, value] : args.given.named) {
        if (name == "attribute") {
            path = value;
        } else if (name == "default") {
            if (!value.is<None>()) otherwise = value;
        } else {
            return type_error(fmt::format("map has no argument '{}'", name));
        }
    }
    if (path.is<Undefined>()) return type_error("map needs a filter or an attribute");
    KVIK_TRY(const AttributePath attribute, AttributePath::parse(path));
    KVIK_TRY(std::vector<Value> items, items_of(args.heap, args.self));
    for (Value& item : items) {
        KVIK_TRY(item, attribute.follow(args.heap, item, otherwise ? &*otherwise : nullptr));
    }
    return list_of(args.heap, std::move(items));
}

Result<Value> map(const Args& args) {
    if (!args.self.truthy()) return list_of(args.heap, {});
    if (args.given.positional.empty()) return map_attribute(args);
    KVIK_TRY(const Inner inner, inner_of(args.given, 0, find_filter));
    KVIK_TRY(std::vector<Value> items, items_of(args.heap, args.self));
    for (Value& item : items) {
        const Value from = item;
        KVIK_TRY(item, call(args.heap, *inner.builtin, from, inner.args));
    }
    return list_of(args.heap, std::move(items));
}

enum class Keep : uint8_t { matching, others };
enum class Look : uint8_t { at_item, at_attribute };

Result<Value> choose(const Args& args, Keep keep, Look look) {
    std::vector<Value> kept;
    if (!args.self.truthy()) return list_of(args.heap, std::move(kept));
    const size_t test_at = look == Look::at_attribute ? 1 : 0;
    const size_t n_given = args.given.positional.size();
    if (n_given < test_at) return type_error("the name of an attribute is missing");
    std::optional<AttributePath> path;
    if (look == Look::at_attribute) {
        KVIK_TRY(path, AttributePath::parse(args.given.positional[0]));
    }
    std::optional<Inner> test;
    if (n_given > test_at) {
        KVIK_TRY(test, inner_of(args.given, test_at, find_test));
    }
    KVIK_TRY(std::vector<Value> items, items_of(args.heap, args.self));
    for (Value& item : items) {
        Value seen = item;
        if (path) {
            KVIK_TRY(seen, path->follow(args.heap, seen));
        }
        if (test) {
            const Value tested = seen;
            KVIK_TRY(seen, call(args.heap, *test->builtin, tested, test->args));
        }
        if (seen.truthy() == (keep == Keep::matching)) kept.push_back(std::move(item));
    }
    return list_of(args.heap, std::move(kept));
}

Result<Value> select(const Args& args) {
    return choose(args, Keep::matching, Look::at_item);
}

Result<Value> reject(const Args& args) {
    return choose(args, Keep::others, Look::at_item);
}

Result<Value> selectattr(const Args& args) {
    return choose(args, Keep::matching, Look::at_attribute);
}

Result<Value> rejectattr(const Args& args) {
    return choose(args, Keep::others, Look::at_attribute);
}

constexpr Builtin kRows[] = {
    {"map", "*", map},       {"reject", "*", reject},         {"rejectattr", "*", rejectattr},
    {"select", "*", select}, {"selectattr", "*", selectattr},
};

}  // namespace

std::span<const Builtin> choice_filters() {
    return kRows;
}

}  // namespace kvik::jinja
