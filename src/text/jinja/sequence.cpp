#include "text/jinja/sequence.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/print.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

Result<std::vector<Value>> characters_of(Heap& heap, const StrPtr& text) {
    KVIK_TRY_VOID(heap.budget().steps(text->n_chars));
    std::vector<Value> out;
    out.reserve(text->n_chars);
    for (size_t at = 0; at < text->view().size();) {
        const size_t next = at + character_at(text->view(), at).n_bytes;
        KVIK_TRY(Value c, heap.substring(text, {at, next}));
        const Str* plain = c.str();
        out.push_back(plain->is_markup ? Value(make_str(plain->marked)) : std::move(c));
        at = next;
    }
    return out;
}

// The bytes of characters [begin, end).
ByteRange bytes_of(const Str& text, size_t begin, size_t end) {
    if (text.is_ascii()) return {begin, end};
    const size_t first = byte_of(text.view(), begin);
    return {first, first + byte_of(text.view().substr(first), end - begin)};
}

Result<Value> character_of(Heap& heap, const StrPtr& text, int64_t index) {
    const auto n = static_cast<int64_t>(text->n_chars);
    if (index < 0) index += n;
    if (index < 0 || index >= n) return Value();
    if (!text->is_ascii()) KVIK_TRY_VOID(heap.budget().bytes(text->view().size()));
    const auto at = static_cast<size_t>(index);
    return heap.substring(text, bytes_of(*text, at, at + 1));
}

Value undefined_item(Heap& heap, const Value& container, const Value& key) {
    Result<StrPtr> name = to_str(heap, key);
    return Undefined{name ? *name : nullptr, container.type_name()};
}

// Python's slice indices over n items: `start`, and how many are taken.
struct Walk {
    int64_t start = 0;
    int64_t step = 1;
    int64_t n = 0;
};

Result<Walk> walk_of(const SliceBounds& bounds, int64_t n) {
    Walk walk;
    walk.step = bounds.step.value_or(1);
    if (walk.step == 0) return type_error("a slice's step cannot be zero");
    const bool back = walk.step < 0;
    const int64_t low = back ? -1 : 0;
    const int64_t high = back ? n - 1 : n;
    const auto clamp = [&](int64_t i) { return std::clamp(i < 0 ? i + n : i, low, high); };
    walk.start = bounds.start ? clamp(*bounds.start) : (back ? high : low);
    const int64_t stop = bounds.stop ? clamp(*bounds.stop) : (back ? low : high);
    const int64_t distance = back ? walk.start - stop : stop - walk.start;
    if (distance <= 0) return walk;
    // Steps past the items are all alike, and negating the smallest integer would overflow.
    walk.step = std::clamp(walk.step, -n - 1, n + 1);
    const int64_t stride = back ? -walk.step : walk.step;
    walk.n = (distance + stride - 1) / stride;
    return walk;
}

Result<Value> slice_text(Heap& heap, const StrPtr& text, const SliceBounds& bounds) {
    KVIK_TRY(const Walk walk, walk_of(bounds, static_cast<int64_t>(text->n_chars)));
    KVIK_TRY_VOID(heap.budget().bytes(text->view().size()));
    if (walk.step == 1) {
        const auto begin = static_cast<size_t>(walk.start);
        return heap.substring(text, bytes_of(*text, begin, begin + static_cast<size_t>(walk.n)));
    }
    KVIK_TRY_VOID(heap.budget().bytes(text->n_chars * sizeof(size_t)));
    std::vector<size_t> begins;
    for (size_t at = 0; at < text->view().size();) {
        begins.push_back(at);
        at += character_at(text->view(), at).n_bytes;
    }
    begins.push_back(text->view().size());
    TextBuilder out(heap.budget());
    for (int64_t i = 0; i < walk.n && !out.full(); ++i) {
        const auto at = static_cast<size_t>(walk.start + i * walk.step);
        out.add(text->marked, {begins[at], begins[at + 1]});
    }
    KVIK_TRY(Value made, heap.string(out));
    return text->is_markup ? Value(as_markup(*made.get_if<StrPtr>())) : made;
}

}  // namespace

Result<std::vector<Value>> items_of(Heap& heap, const Value& value) {
    if (const StrPtr* s = value.get_if<StrPtr>()) return characters_of(heap, *s);
    if (const List* list = value.list()) {
        KVIK_TRY_VOID(heap.budget().steps(list->items.size()));
        return list->items;
    }
    std::vector<Value> out;
    if (const Dict* dict = value.dict()) {
        KVIK_TRY_VOID(heap.budget().steps(dict->entries().size()));
        for (const Dict::Entry& entry : dict->entries()) out.push_back(entry.key);
        return out;
    }
    if (value.is<Undefined>()) return out;
    return type_error(fmt::format("{} has no items to go through", value.type_name()));
}

Result<int64_t> length_of(const Value& value) {
    if (const Str* s = value.str()) return static_cast<int64_t>(s->n_chars);
    if (const List* l = value.list()) return static_cast<int64_t>(l->items.size());
    if (const Dict* d = value.dict()) return static_cast<int64_t>(d->entries().size());
    if (value.is<Undefined>()) return int64_t{0};
    return type_error(fmt::format("{} has no length", value.type_name()));
}

Result<Value> list_of(Heap& heap, std::vector<Value> items, List::Form form) {
    KVIK_TRY_VOID(heap.budget().steps(items.size()));
    List* list = heap.list(form);
    list->items = std::move(items);
    return Value(list);
}

Result<Value> pair_of(Heap& heap, Value first, Value second) {
    std::vector<Value> items;
    items.push_back(std::move(first));
    items.push_back(std::move(second));
    return list_of(heap, std::move(items), List::Form::tuple);
}

Result<Value> item_of(Heap& heap, const Value& container, const Value& key) {
    if (const auto* undefined = container.get_if<Undefined>()) return undefined_error(*undefined);
    if (const Dict* dict = container.dict()) {
        const Result<std::string> name = key_of(heap.budget(), key);
        const Value* found = name ? dict->find_key(*name) : nullptr;
        return found ? *found : undefined_item(heap, container, key);
    }
    if (const auto index = key.integer()) {
        if (const StrPtr* s = container.get_if<StrPtr>()) {
            KVIK_TRY(Value c, character_of(heap, *s, *index));
            return c.is<Undefined>() ? undefined_item(heap, container, key) : c;
        }
        if (const List* list = container.list()) {
            const auto n = static_cast<int64_t>(list->items.size());
            const int64_t at = *index < 0 ? *index + n : *index;
            if (at >= 0 && at < n) return list->items[static_cast<size_t>(at)];
        }
    }
    return undefined_item(heap, container, key);
}

Result<Value> slice_of(Heap& heap, const Value& container, const SliceBounds& bounds) {
    if (const StrPtr* s = container.get_if<StrPtr>()) return slice_text(heap, *s, bounds);
    if (const List* list = container.list()) {
        KVIK_TRY(const Walk walk, walk_of(bounds, static_cast<int64_t>(list->items.size())));
        std::vector<Value> items;
        for (int64_t i = 0; i < walk.n; ++i) {
            items.push_back(list->items[static_cast<size_t>(walk.start + i * walk.step)]);
        }
        return list_of(heap, std::move(items), list->form);
    }
    if (const auto* undefined = container.get_if<Undefined>()) return undefined_error(*undefined);
    return type_error(fmt::format("{} cannot be sliced", container.type_name()));
}

}  // namespace kvik::jinja
