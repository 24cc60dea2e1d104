// Value: what a template computes with. Python's types, as far as chat templates use them.
//
// Owner     strings are shared and never change; containers belong to the Heap of the render and
//           are borrowed by pointer, so a value that contains itself leaks nothing and no
//           destructor recurses.
// Cost      32 bytes, copied freely.
// Invariant every string carries which of its bytes came from outside.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "text/jinja/big_int.h"
#include "text/tokenizer.h"

namespace kvik::jinja {

struct List;
class Dict;
struct Namespace;
struct Loop;
struct Callable;

struct Str {
    MarkedText marked;
    size_t n_chars = 0;
    bool is_markup = false;  // what `safe` gave, and what comes of it: Markup of markupsafe

    std::string_view view() const { return marked.text; }
    bool is_ascii() const { return n_chars == marked.text.size(); }
};
using StrPtr = std::shared_ptr<const Str>;
using BigPtr = std::shared_ptr<const BigInt>;  // of what does not fit an int64_t

StrPtr make_str(MarkedText text);
StrPtr make_str(std::string_view trusted);
StrPtr as_markup(const StrPtr& text);

// A name that stands for nothing. It prints as nothing, and using it otherwise is an error that
// says which name: of a variable, or of an attribute of `owner` (a type's name).
struct Undefined {
    StrPtr name;
    const char* owner = nullptr;
};
struct None {};

template <class T>
concept Alternative =
    std::same_as<T, Undefined> || std::same_as<T, None> || std::same_as<T, bool> ||
    std::same_as<T, int64_t> || std::same_as<T, BigPtr> || std::same_as<T, double> ||
    std::same_as<T, StrPtr> || std::same_as<T, List*> || std::same_as<T, Dict*> ||
    std::same_as<T, Namespace*> || std::same_as<T, Loop*> || std::same_as<T, Callable*>;

class Value {
  public:
    Value() = default;  // undefined
    template <Alternative T>
    Value(T value) : value_(std::move(value)) {}

    // The alternative, or null.
    template <Alternative T>
    const T* get_if() const {
        return std::get_if<T>(&value_);
    }
    template <Alternative T>
    bool is() const {
        return std::holds_alternative<T>(value_);
    }
    const Str* str() const {
        const StrPtr* s = get_if<StrPtr>();
        return s ? s->get() : nullptr;
    }
    List* list() const { return pointer<List>(); }
    Dict* dict() const { return pointer<Dict>(); }
    std::optional<int64_t> integer() const;  // an int of 64 bits, or a bool as 0 or 1
    std::optional<BigInt> whole() const;     // an int of any size, or a bool
    bool is_whole() const;                   // whether it is one of those
    // An int, bool or float; an int past the largest float is infinite.
    std::optional<double> number() const;
    bool truthy() const;            // Python's bool(value)
    const char* type_name() const;  // Python's: "str", "NoneType"

  private:
    template <class T>
    T* pointer() const {
        T* const* p = std::get_if<T*>(&value_);
        return p ? *p : nullptr;
    }

    std::variant<Undefined, None, bool, int64_t, BigPtr, double, StrPtr, List*, Dict*, Namespace*,
                 Loop*, Callable*>
        value_;
};

Value big_or_small(BigInt value);  // an int64_t where it fits

}  // namespace kvik::jinja
