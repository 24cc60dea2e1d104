// Heap: the containers of one render, and the budget that everything it builds is charged to.
//
// Owner     every list, dict, namespace, loop and callable until the render ends; strings are
//           shared and go when the last value lets go.
// Threads   one render, one thread.
// Errors    a string past the budget: finish() and string() say which limit.
#pragma once

#include <deque>
#include <string_view>

#include "base/result.h"
#include "text/jinja/budget.h"
#include "text/jinja/containers.h"
#include "text/jinja/text_builder.h"
#include "text/jinja/value.h"

namespace kvik::jinja {

class Heap {
  public:
    explicit Heap(const Limits& limits) : budget_(limits) {}
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    Budget& budget() { return budget_; }
    List* list(List::Form form = List::Form::list);
    Dict* dict();
    Namespace* space();
    Loop* loop();
    Callable* callable(Callable what);

    Result<Value> string(MarkedText text);
    Result<Value> string(TextBuilder& builder);
    Result<Value> string(std::string_view trusted);
    // The bytes [begin, end) of a string, which may be all of it.
    Result<Value> substring(const StrPtr& of, ByteRange range);

  private:
    template <class T>
    T* make(std::deque<T>& pool);

    Budget budget_;
    std::deque<List> lists_;
    std::deque<Dict> dicts_;
    std::deque<Namespace> spaces_;
    std::deque<Loop> loops_;
    std::deque<Callable> callables_;
};

// The errors that most operations can give.
tl::unexpected<Error> type_error(std::string message);
tl::unexpected<Error> undefined_error(const Undefined& what);

}  // namespace kvik::jinja
