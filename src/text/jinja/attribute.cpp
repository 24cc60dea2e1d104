#include "text/jinja/attribute.h"

#include <fmt/format.h>

#include <charconv>

#include "text/jinja/ast.h"
#include "text/jinja/builtin.h"
#include "text/jinja/sequence.h"

namespace kvik::jinja {
namespace {

// loop.index and its like; nothing when the loop has no such attribute.
std::optional<Value> loop_attribute(const Loop& loop, std::string_view name) {
    const auto n = static_cast<int64_t>(loop.items.size());
    const auto i = static_cast<int64_t>(loop.index);
    if (name == "index") return i + 1;
    if (name == "index0") return i;
    if (name == "revindex") return n - i;
    if (name == "revindex0") return n - i - 1;
    if (name == "first") return i == 0;
    if (name == "last") return i + 1 == n;
    if (name == "length") return n;
    if (name == "depth") return int64_t{1};
    if (name == "depth0") return int64_t{0};
    if (name == "previtem") {
        return i > 0 ? loop.items[loop.index - 1] : Value(Undefined{make_str(name), "loop"});
    }
    if (name == "nextitem") {
        return i + 1 < n ? loop.items[loop.index + 1] : Value(Undefined{make_str(name), "loop"});
    }
    return std::nullopt;
}

Value key_from(std::string_view part) {
    int64_t index = 0;
    const char* last = part.data() + part.size();
    const auto [end, error] = std::from_chars(part.data(), last, index);
    const bool digits = !part.empty() && part[0] != '-' && end == last && error == std::errc();
    return digits ? Value(index) : Value(make_str(part));
}

}  // namespace

Result<Value> attribute_of(Heap& heap, const Value& value, const StrPtr& name) {
    if (const auto* undefined = value.get_if<Undefined>()) return undefined_error(*undefined);
    KVIK_TRY_VOID(heap.budget().bytes(name->view().size()));
    if (const auto* loop = value.get_if<Loop*>()) {
        if (auto found = loop_attribute(**loop, name->view())) return std::move(*found);
    }
    if (const auto* space = value.get_if<Namespace*>()) {
        const Value* found = (*space)->values.find(name->view());
        return found ? *found : Value(Undefined{name, value.type_name()});
    }
    const auto* callable = value.get_if<Callable*>();
    if (callable && (*callable)->macro && name->view() == "name") {
        return Value((*callable)->macro->name);
    }
    if (const Builtin* method = find_method(value, name->view())) {
        return Value(heap.callable({method, value, nullptr, nullptr}));
    }
    if (const Dict* dict = value.dict()) {
        if (const Value* found = dict->find(name->view())) return *found;
    }
    return Value(Undefined{name, value.type_name()});
}

Result<Value> item_or_method(Heap& heap, const Value& value, const Value& key) {
    const StrPtr* name = key.get_if<StrPtr>();
    if (!name) return item_of(heap, value, key);
    if (const Dict* dict = value.dict()) {
        KVIK_TRY_VOID(heap.budget().bytes((*name)->view().size()));
        if (const Value* found = dict->find((*name)->view())) return *found;
    }
    return attribute_of(heap, value, *name);
}

Result<AttributePath> AttributePath::parse(const Value& path) {
    AttributePath out;
    if (path.integer()) {
        out.keys_.push_back(path);
        return out;
    }
    const Str* text = path.str();
    if (!text) {
        return type_error(fmt::format("an attribute is a str or an int, not {}", path.type_name()));
    }
    std::string_view left = text->view();
    while (true) {
        const size_t dot = left.find('.');
        out.keys_.push_back(key_from(left.substr(0, dot)));
        if (dot == left.npos) return out;
        left.remove_prefix(dot + 1);
    }
}

Result<Value> AttributePath::follow(Heap& heap, const Value& from, const Value* otherwise) const {
    Value at = from;
    for (const Value& key : keys_) {
        KVIK_TRY_VOID(heap.budget().steps());
        KVIK_TRY(at, item_or_method(heap, at, key));
        if (otherwise && at.is<Undefined>()) at = *otherwise;
    }
    return at;
}

}  // namespace kvik::jinja
