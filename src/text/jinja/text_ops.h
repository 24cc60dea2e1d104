// What filters and methods do to strings. Every byte keeps its mark.
//
// Cost      linear in the texts, charged to the budget.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/jinja/heap.h"
#include "text/jinja/unicode.h"

namespace kvik::jinja {

Result<Value> in_case(Heap& heap, const Str& text, Case form);
Result<Value> capitalized(Heap& heap, const Str& text);  // "aBC d" -> "Abc d"
// "they're a-b" -> "They're A-B": a word begins after what `begins_word` says of the character
// before it, and at the start; its first letter is put in the case `initial`.
Result<Value> titled(Heap& heap, const Str& text, Case initial,
                     bool (*begins_word)(char32_t before));

// A text with & < > ' " written for HTML; a markup is given back as it is.
Result<StrPtr> escaped(Heap& heap, const StrPtr& text);
// What an operation on `from` gave is markup if `from` is.
Result<Value> markup_as(const Str& from, Result<Value> made);

enum class Ends : uint8_t { both, left, right };
// Takes characters off the ends: those of `which`, or blanks where it is null.
Result<Value> stripped(Heap& heap, const StrPtr& text, const Str* which, Ends ends);

struct Replacement {
    const Str& what;
    const Str& with;
    int64_t at_most = -1;  // negative: all
};
Result<Value> replaced(Heap& heap, const Str& text, const Replacement& replacement);

// Between blanks where `separator` is null, else at each of it; negative `at_most`: everywhere.
Result<Value> split(Heap& heap, const StrPtr& text, const Str* separator, int64_t at_most);

// A line without its end, and the end ("\r\n" is one).
struct Line {
    ByteRange text;
    ByteRange end;
};
Result<std::vector<Line>> lines_of(Heap& heap, std::string_view text);

}  // namespace kvik::jinja
