#include "text/jinja/heap.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvik::jinja {
namespace {
constexpr uint64_t kOverheadBytes = 64;  // of a string or container besides what it holds
}  // namespace

// An overspent budget makes the next charge fail: a container itself is small.
template <class T>
T* Heap::make(std::deque<T>& pool) {
    budget_.spend_bytes(kOverheadBytes + sizeof(T));
    return &pool.emplace_back();
}

List* Heap::list(List::Form form) {
    List* made = make(lists_);
    made->form = form;
    return made;
}

Dict* Heap::dict() {
    return make(dicts_);
}

Namespace* Heap::space() {
    return make(spaces_);
}

Loop* Heap::loop() {
    return make(loops_);
}

Callable* Heap::callable(Callable what) {
    Callable* made = make(callables_);
    *made = std::move(what);
    return made;
}

Result<Value> Heap::string(MarkedText text) {
    KVIK_TRY_VOID(budget_.bytes(kOverheadBytes));
    return Value(make_str(std::move(text)));
}

Result<Value> Heap::string(TextBuilder& builder) {
    KVIK_TRY(MarkedText text, builder.finish());
    return string(std::move(text));
}

Result<Value> Heap::string(std::string_view trusted) {
    TextBuilder builder(budget_);
    builder.add(trusted);
    return string(builder);
}

Result<Value> Heap::substring(const StrPtr& of, ByteRange range) {
    const size_t n = of->view().size();
    range.end = std::min(range.end, n);
    range.begin = std::min(range.begin, range.end);
    if (range.begin == 0 && range.end == n) return Value(of);
    TextBuilder builder(budget_);
    builder.add(of->marked, range);
    KVIK_TRY(Value part, string(builder));
    return of->is_markup ? Value(as_markup(*part.get_if<StrPtr>())) : part;
}

tl::unexpected<Error> type_error(std::string message) {
    return fail(ErrorKind::failed, std::move(message));
}

tl::unexpected<Error> undefined_error(const Undefined& what) {
    const std::string_view name = what.name ? what.name->view() : "a value";
    if (!what.owner) return type_error(fmt::format("'{}' is undefined", name));
    return type_error(fmt::format("{} has no attribute '{}'", what.owner, name));
}

}  // namespace kvik::jinja
