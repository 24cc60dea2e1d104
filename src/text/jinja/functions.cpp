// The functions every template sees.
#include <fmt/format.h>

#include "text/jinja/builtin.h"
#include "text/jinja/print.h"
#include "text/jinja/sequence.h"
#include "text/jinja/strftime.h"

namespace kvik::jinja {
namespace {

Result<Value> range(const Args& args) {
    KVIK_TRY(const int64_t first, args.integer(0, 0));
    KVIK_TRY(const int64_t second, args.integer(1, 0));
    KVIK_TRY(const int64_t step, args.integer(2, 1));
    const int64_t start = args.has(1) ? first : 0;
    const int64_t stop = args.has(1) ? second : first;
    if (step == 0) return type_error("range's step cannot be zero");
    std::vector<Value> items;
    int64_t at = start;
    while (step > 0 ? at < stop : at > stop) {
        KVIK_TRY_VOID(args.heap.budget().steps());
        items.push_back(at);
        if (__builtin_add_overflow(at, step, &at)) break;
    }
    return list_of(args.heap, std::move(items));
}

Result<void> fill_with_pairs(Heap& heap, const Value& pairs, Dict& to) {
    if (const auto* undefined = pairs.get_if<Undefined>()) return undefined_error(*undefined);
    KVIK_TRY(const std::vector<Value> all, items_of(heap, pairs));
    for (const Value& each : all) {
        KVIK_TRY(const std::vector<Value> pair, items_of(heap, each));
        if (pair.size() != 2) return type_error("dict and namespace take a dict, or pairs");
        KVIK_TRY(const std::string key, key_of(heap.budget(), pair[0]));
        to.set(key, pair[0], pair[1]);
    }
    return {};
}

// The entries of a dict that is given, then those given by name.
Result<void> fill(const Args& args, Dict& to) {
    if (args.given.positional.size() > 1) return type_error("dict and namespace take one dict");
    for (const Value& given : args.given.positional) {
        const Dict* from = given.dict();
        if (!from) {
            KVIK_TRY_VOID(fill_with_pairs(args.heap, given, to));
            continue;
        }
        KVIK_TRY_VOID(args.heap.budget().steps(from->entries().size()));
        for (const Dict::Entry& entry : from->entries()) {
            KVIK_TRY(const std::string key, key_of(args.heap.budget(), entry.key));
            to.set(key, entry.key, entry.value);
        }
    }
    for (const auto& [name, value] : args.given.named) {
        to.set(key_of(name), make_str(name), value);
    }
    return {};
}

Result<Value> dict(const Args& args) {
    Dict* made = args.heap.dict();
    KVIK_TRY_VOID(fill(args, *made));
    return Value(made);
}

Result<Value> make_namespace(const Args& args) {
    Namespace* made = args.heap.space();
    KVIK_TRY_VOID(fill(args, made->values));
    return Value(made);
}

Result<Value> raise_exception(const Args& args) {
    KVIK_TRY(const StrPtr text, to_str(args.heap, args.at(0)));
    return fail(ErrorKind::usage, std::string(text->view()));
}

// Bound to the seconds of the wall clock; the format's own marks do not survive it, so a format
// from outside makes all of it untrusted.
Result<Value> strftime_now(const Args& args) {
    KVIK_TRY(const StrPtr format, args.text(0, ""));
    KVIK_TRY_VOID(args.heap.budget().bytes(format->view().size()));
    const Mark mark = format->marked.untrusted.empty() ? Mark::trusted : Mark::untrusted;
    TextBuilder out(args.heap.budget());
    const auto now = args.self.integer();
    if (!now) return type_error("strftime_now: the time is not known");
    KVIK_TRY(const std::string text, format_time(*now, format->view()));
    out.add(text, mark);
    return args.heap.string(out);
}

constexpr Builtin kRows[] = {
    {"dict", "*", dict},
    {"namespace", "*", make_namespace},
    {"raise_exception", "message", raise_exception},
    {"range", "start stop? step?", range},
    {"strftime_now", "format", strftime_now},
};

}  // namespace

std::span<const Builtin> functions() {
    return kRows;
}

}  // namespace kvik::jinja
