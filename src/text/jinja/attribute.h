// Attributes: what `value.name` and the filters' `attribute="a.b.0"` mean.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/heap.h"

namespace kvik::jinja {

// value.name: a method, then an item of that name; undefined when there is neither.
Result<Value> attribute_of(Heap& heap, const Value& value, const StrPtr& name);
// value[key]: an item, then a method of that name.
Result<Value> item_or_method(Heap& heap, const Value& value, const Value& key);

// A path of keys with dots between, as a filter's argument has it.
class AttributePath {
  public:
    static Result<AttributePath> parse(const Value& path);
    // `otherwise` stands for what is undefined on the way.
    Result<Value> follow(Heap& heap, const Value& from, const Value* otherwise = nullptr) const;

  private:
    std::vector<Value> keys_;
};

}  // namespace kvik::jinja
