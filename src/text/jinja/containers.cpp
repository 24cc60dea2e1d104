#include "text/jinja/containers.h"

#include <fmt/format.h>

#include <cmath>

namespace kvik::jinja {
namespace {

// A float with an integer's value is that integer's key.
std::string number_key(double number) {
    if (std::isfinite(number) && number == std::floor(number)) {
        return "i" + BigInt::truncated(number).text(16);
    }
    return fmt::format("f{}", number);
}

}  // namespace

std::string key_of(std::string_view name) {
    std::string key;
    key.reserve(name.size() + 1);
    key += 's';
    key += name;
    return key;
}

static Result<std::string> tuple_key(Budget& budget, const List& tuple, uint32_t depth);

static Result<std::string> key_at(Budget& budget, const Value& value, uint32_t depth) {
    if (const Str* s = value.str()) {
        KVIK_TRY_VOID(budget.bytes(s->view().size()));
        return key_of(s->view());
    }
    if (const auto whole = value.whole()) {
        KVIK_TRY_VOID(budget.steps(1 + whole->n_limbs()));
        return "i" + whole->text(16);
    }
    if (const auto n = value.number()) return number_key(*n);
    if (value.is<None>()) return std::string("n");
    if (value.is<Undefined>()) return std::string("u");
    // What has no value but itself.
    if (const auto* p = value.get_if<Callable*>()) return fmt::format("p{}", fmt::ptr(*p));
    if (const auto* p = value.get_if<Namespace*>()) return fmt::format("p{}", fmt::ptr(*p));
    if (const auto* p = value.get_if<Loop*>()) return fmt::format("p{}", fmt::ptr(*p));
    const List* list = value.list();
    if (list && list->form == List::Form::tuple) return tuple_key(budget, *list, depth + 1);
    return fail(ErrorKind::failed,
                fmt::format("{} cannot be a key or a set's member", value.type_name()));
}

// Each item's key behind its length, so that no two tuples share one.
static Result<std::string> tuple_key(Budget& budget, const List& tuple, uint32_t depth) {
    if (depth > budget.limits().depth) {
        return fail(ErrorKind::failed,
                    fmt::format("a key is a tuple nested deeper than {}", budget.limits().depth));
    }
    std::string key = "t";
    for (const Value& item : tuple.items) {
        KVIK_TRY_VOID(budget.steps());
        KVIK_TRY(const std::string part, key_at(budget, item, depth));
        KVIK_TRY_VOID(budget.bytes(part.size()));
        key += fmt::format("{}:{}", part.size(), part);
    }
    return key;
}

Result<std::string> key_of(Budget& budget, const Value& value) {
    return key_at(budget, value, 0);
}

const Value* Dict::find_key(const std::string& key) const {
    const auto place = places_.find(key);
    return place == places_.end() ? nullptr : &entries_[place->second].value;
}

void Dict::set(const std::string& key, Value name, Value value) {
    const auto [place, added] = places_.emplace(key, entries_.size());
    if (added) {
        entries_.push_back({std::move(name), std::move(value)});
    } else {
        entries_[place->second].value = std::move(value);
    }
}

bool Dict::erase(const std::string& key) {
    const auto place = places_.find(key);
    if (place == places_.end()) return false;
    const size_t gap = place->second;
    places_.erase(place);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(gap));
    for (auto& [other, at] : places_) at -= at > gap;
    return true;
}

}  // namespace kvik::jinja
