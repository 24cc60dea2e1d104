// The containers a template can build: list, dict, namespace, loop, and what it can call.
//
// Owner     the Heap (heap.h).
// Cost      a dict finds a key in O(log n) and erases in O(n).
// Invariant a dict keeps the order in which its keys first came.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/jinja/budget.h"
#include "text/jinja/value.h"

namespace kvik::jinja {

struct List {
    enum class Form : uint8_t { list, tuple };
    std::vector<Value> items;
    Form form = Form::list;
};

// What makes two keys one key: 1, 1.0 and true are equal, marks do not count.
// An unhashable value (list, dict, a tuple with one) is an error; a text's bytes are charged.
Result<std::string> key_of(Budget& budget, const Value& value);
std::string key_of(std::string_view name);

class Dict {
  public:
    struct Entry {
        Value key, value;
    };

    const std::vector<Entry>& entries() const { return entries_; }
    const Value* find(std::string_view name) const { return find_key(key_of(name)); }
    const Value* find_key(const std::string& key) const;  // a key_of()
    void set(const std::string& key, Value name, Value value);
    bool erase(const std::string& key);

  private:
    std::vector<Entry> entries_;
    std::map<std::string, size_t, std::less<>> places_;
};

struct Namespace {
    Dict values;
};

struct Loop {
    std::vector<Value> items;
    size_t index = 0;
    std::vector<Value> seen;  // what changed() was given last
    bool asked = false;       // whether it was
};

struct Builtin;    // builtin.h
struct MacroStmt;  // ast.h
struct Scope;      // scope.h

// A function: a row of a table, perhaps bound to its object, or a macro with where it was born.
struct Callable {
    const Builtin* builtin = nullptr;
    Value self;
    const MacroStmt* macro = nullptr;
    Scope* home = nullptr;
};

}  // namespace kvik::jinja
