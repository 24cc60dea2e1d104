#include "text/jinja/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/jinja/unicode.h"

namespace kvik::jinja {
namespace {

// A whole number and a float by their exact values.
std::partial_ordering order_with_float(const BigInt& whole, double real) {
    if (std::isnan(real)) return std::partial_ordering::unordered;
    if (std::isinf(real)) return 0 <=> real;
    const BigInt truncated = BigInt::truncated(real);
    if (whole != truncated) return whole <=> truncated;
    return 0 <=> real - std::trunc(real);
}

// Both are numbers.
std::partial_ordering order_numbers(const Value& a, const Value& b) {
    if (const auto i = a.integer(), j = b.integer(); i && j) return *i <=> *j;
    if (a.is_whole() && b.is_whole()) return *a.whole() <=> *b.whole();
    if (a.is_whole()) return order_with_float(*a.whole(), *b.number());
    if (b.is_whole()) return 0 <=> order_with_float(*b.whole(), *a.number());
    return *a.number() <=> *b.number();
}

class Comparison {
  public:
    explicit Comparison(Heap& heap) : heap_(heap) {}
    Result<bool> equal(const Value& a, const Value& b);
    Result<std::partial_ordering> order(const Value& a, const Value& b);

  private:
    Result<bool> equal_items(const List& a, const List& b);
    Result<bool> equal_entries(const Dict& a, const Dict& b);
    Result<std::partial_ordering> order_items(const List& a, const List& b);

    // One level deeper for as long as it lives.
    class Level {
      public:
        explicit Level(Comparison& comparison) : comparison_(comparison) { ++comparison_.depth_; }
        ~Level() { --comparison_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        Result<void> check() const;

      private:
        Comparison& comparison_;
    };

    Heap& heap_;
    uint32_t depth_ = 0;
};

Result<void> Comparison::Level::check() const {
    const uint32_t limit = comparison_.heap_.budget().limits().depth;
    if (comparison_.depth_ <= limit) return {};
    return type_error(fmt::format("values nested deeper than {} cannot be compared", limit));
}

Result<bool> Comparison::equal_items(const List& a, const List& b) {
    if (&a == &b) return true;
    if (a.form != b.form || a.items.size() != b.items.size()) return false;
    const Level level(*this);
    KVIK_TRY_VOID(level.check());
    for (size_t i = 0; i < a.items.size(); ++i) {
        KVIK_TRY(const bool same, equal(a.items[i], b.items[i]));
        if (!same) return false;
    }
    return true;
}

Result<bool> Comparison::equal_entries(const Dict& a, const Dict& b) {
    if (&a == &b) return true;
    if (a.entries().size() != b.entries().size()) return false;
    const Level level(*this);
    KVIK_TRY_VOID(level.check());
    for (const Dict::Entry& entry : a.entries()) {
        KVIK_TRY(const std::string key, key_of(heap_.budget(), entry.key));
        const Value* other = b.find_key(key);
        if (!other) return false;
        KVIK_TRY(const bool same, equal(entry.value, *other));
        if (!same) return false;
    }
    return true;
}

Result<bool> Comparison::equal(const Value& a, const Value& b) {
    KVIK_TRY_VOID(heap_.budget().steps());
    if (const Str* s = a.str(), *t = b.str(); s && t) {
        KVIK_TRY_VOID(heap_.budget().bytes(std::min(s->view().size(), t->view().size())));
        return s->view() == t->view();
    }
    if (a.number() && b.number()) return order_numbers(a, b) == 0;
    if (const List* l = a.list(), *m = b.list(); l && m) return equal_items(*l, *m);
    if (const Dict* d = a.dict(), *e = b.dict(); d && e) return equal_entries(*d, *e);
    if (a.is<None>() || a.is<Undefined>()) {
        return a.is<None>() ? b.is<None>() : b.is<Undefined>();
    }
    const auto same_object = [&]<class T>(T* const* p) {
        return p && b.get_if<T*>() && *p == *b.get_if<T*>();
    };
    return same_object(a.get_if<Namespace*>()) || same_object(a.get_if<Loop*>()) ||
           same_object(a.get_if<Callable*>());
}

Result<std::partial_ordering> Comparison::order_items(const List& a, const List& b) {
    const Level level(*this);
    KVIK_TRY_VOID(level.check());
    for (size_t i = 0; i < std::min(a.items.size(), b.items.size()); ++i) {
        KVIK_TRY(const bool same, equal(a.items[i], b.items[i]));
        if (!same) return order(a.items[i], b.items[i]);
    }
    return a.items.size() <=> b.items.size();
}

Result<std::partial_ordering> Comparison::order(const Value& a, const Value& b) {
    if (const Str* s = a.str(), *t = b.str(); s && t) {
        KVIK_TRY_VOID(heap_.budget().bytes(std::min(s->view().size(), t->view().size())));
        return s->view() <=> t->view();  // the bytes of UTF-8 order as its code points
    }
    if (a.number() && b.number()) return order_numbers(a, b);
    if (const List* l = a.list(), *m = b.list(); l && m && l->form == m->form) {
        return order_items(*l, *m);
    }
    for (const Value* v : {&a, &b}) {
        if (const auto* undefined = v->get_if<Undefined>()) return undefined_error(*undefined);
    }
    return type_error(fmt::format("{} and {} have no order", a.type_name(), b.type_name()));
}

}  // namespace

Result<bool> equal(Heap& heap, const Value& a, const Value& b) {
    return Comparison(heap).equal(a, b);
}

Result<std::partial_ordering> order(Heap& heap, const Value& a, const Value& b) {
    return Comparison(heap).order(a, b);
}

Result<bool> contains(Heap& heap, const Value& container, const Value& item) {
    if (const Str* s = container.str()) {
        const Str* part = item.str();
        if (const auto* undefined = item.get_if<Undefined>()) return undefined_error(*undefined);
        if (!part) {
            return type_error(fmt::format("'in' a str needs a str, not {}", item.type_name()));
        }
        KVIK_TRY_VOID(heap.budget().bytes(s->view().size() + part->view().size()));
        return find_text(s->view(), part->view()) != std::string_view::npos;
    }
    if (const Dict* d = container.dict()) {
        KVIK_TRY(const std::string key, key_of(heap.budget(), item));
        return d->find_key(key) != nullptr;
    }
    if (const List* l = container.list()) {
        for (const Value& each : l->items) {
            KVIK_TRY(const bool same, equal(heap, each, item));
            if (same) return true;
        }
        return false;
    }
    if (container.is<Undefined>()) return false;
    return type_error(fmt::format("{} has no members", container.type_name()));
}

}  // namespace kvik::jinja
