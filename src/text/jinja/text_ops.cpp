#include "text/jinja/text_ops.h"

#include <algorithm>

#include "text/jinja/sequence.h"

namespace kvik::jinja {
namespace {

// A byte looked up in the case tables costs as much as so many that are copied.
constexpr uint64_t kCaseCost = 4;
// And a text that is replaced, as so many bytes.
constexpr uint64_t kReplacementCost = 16;

// The last character of a text that is not empty.
Character last_character(std::string_view text) {
    size_t at = text.size() - 1;
    while (at > 0 && text.size() - at < 4 &&
           (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
        --at;
    }
    const Character c = character_at(text, at);
    return at + c.n_bytes == text.size() ? c : Character{};
}

std::u32string sorted_characters(std::string_view text) {
    std::u32string out;
    for (size_t at = 0; at < text.size();) {
        const Character c = character_at(text, at);
        out += c.code;
        at += c.n_bytes;
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool is_line_end(char32_t code) {
    return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 ||
           code == 0x2028 || code == 0x2029;
}

class Pieces {
  public:
    Pieces(Heap& heap, const StrPtr& text) : heap_(heap), text_(text) {}
    Result<void> add(ByteRange range) {
        KVIK_TRY_VOID(heap_.budget().steps());
        KVIK_TRY(Value piece, heap_.substring(text_, range));
        items_.push_back(std::move(piece));
        return {};
    }
    size_t n() const { return items_.size(); }
    Result<Value> list() { return list_of(heap_, std::move(items_)); }

  private:
    Heap& heap_;
    const StrPtr& text_;
    std::vector<Value> items_;
};

size_t skip_blanks(std::string_view text, size_t at) {
    while (at < text.size()) {
        const Character c = character_at(text, at);
        if (!is_space(c.code)) break;
        at += c.n_bytes;
    }
    return at;
}

size_t skip_word(std::string_view text, size_t at) {
    while (at < text.size()) {
        const Character c = character_at(text, at);
        if (is_space(c.code)) break;
        at += c.n_bytes;
    }
    return at;
}

Result<Value> split_at_blanks(Heap& heap, const StrPtr& text, uint64_t most) {
    const std::string_view s = text->view();
    Pieces pieces(heap, text);
    for (size_t at = skip_blanks(s, 0); at < s.size();) {
        const size_t end = pieces.n() == most ? s.size() : skip_word(s, at);
        KVIK_TRY_VOID(pieces.add({at, end}));
        at = skip_blanks(s, end);
    }
    return pieces.list();
}

}  // namespace

Result<Value> in_case(Heap& heap, const Str& text, Case form) {
    TextBuilder out(heap.budget());
    if (text.is_ascii()) {
        out.add(text.marked);
        KVIK_TRY(MarkedText cased, out.finish());
        for (char& c : cased.text) {
            if (form == Case::lower ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z') c ^= 0x20;
        }
        return heap.string(std::move(cased));
    }
    KVIK_TRY_VOID(heap.budget().bytes(kCaseCost * text.view().size()));
    for (CaseWalk walk(text.view()); !walk.done() && !out.full();) {
        const Mark mark = mark_at(text.marked, walk.at());
        out.add(walk.next(form), mark);
    }
    return heap.string(out);
}

Result<Value> capitalized(Heap& heap, const Str& text) {
    return titled(heap, text, Case::title, [](char32_t) { return false; });
}

Result<Value> titled(Heap& heap, const Str& text, Case initial,
                     bool (*begins_word)(char32_t before)) {
    TextBuilder out(heap.budget());
    KVIK_TRY_VOID(heap.budget().bytes(kCaseCost * text.view().size()));
    bool begins = true;
    for (CaseWalk walk(text.view()); !walk.done() && !out.full();) {
        const Mark mark = mark_at(text.marked, walk.at());
        const char32_t code = character_at(text.view(), walk.at()).code;
        out.add(walk.next(begins ? initial : Case::lower), mark);
        begins = begins_word(code);
    }
    return heap.string(out);
}

Result<StrPtr> escaped(Heap& heap, const StrPtr& text) {
    if (text->is_markup) return text;
    constexpr std::string_view kMeant = "&<>'\"";
    constexpr std::string_view kWritten[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    const std::string_view s = text->view();
    TextBuilder out(heap.budget());
    for (size_t at = 0; at < s.size() && !out.full();) {
        const size_t next = std::min(s.find_first_of(kMeant, at), s.size());
        out.add(text->marked, {at, next});
        if (next < s.size()) out.add(kWritten[kMeant.find(s[next])], mark_at(text->marked, next));
        at = next + 1;
    }
    KVIK_TRY(const Value made, heap.string(out));
    return as_markup(*made.get_if<StrPtr>());
}

Result<Value> markup_as(const Str& from, Result<Value> made) {
    if (!from.is_markup || !made || !made->str()) return made;
    return Value(as_markup(*made->get_if<StrPtr>()));
}

Result<Value> stripped(Heap& heap, const StrPtr& text, const Str* which, Ends ends) {
    const std::string_view s = text->view();
    KVIK_TRY_VOID(heap.budget().bytes(s.size() + (which ? which->view().size() * 4 : 0)));
    const std::u32string set = which ? sorted_characters(which->view()) : std::u32string();
    const auto goes = [&](const Character& c) {
        return which ? std::binary_search(set.begin(), set.end(), c.code) : is_space(c.code);
    };
    ByteRange kept{0, s.size()};
    while (ends != Ends::right && kept.begin < kept.end) {
        const Character c = character_at(s, kept.begin);
        if (!goes(c)) break;
        kept.begin += c.n_bytes;
    }
    while (ends != Ends::left && kept.begin < kept.end) {
        const Character c = last_character(s.substr(kept.begin, kept.end - kept.begin));
        if (!goes(c)) break;
        kept.end -= c.n_bytes;
    }
    return heap.substring(text, kept);
}

Result<Value> replaced(Heap& heap, const Str& text, const Replacement& replacement) {
    const std::string_view s = text.view();
    const std::string_view what = replacement.what.view();
    KVIK_TRY_VOID(heap.budget().bytes(s.size() + what.size()));
    TextBuilder out(heap.budget());
    auto left = static_cast<uint64_t>(replacement.at_most);  // negative: more than there can be
    size_t copied = 0;
    size_t at = 0;
    for (; left > 0 && !out.full(); --left) {
        const size_t found = find_text(s, what, at);
        if (found == s.npos) break;
        KVIK_TRY_VOID(heap.budget().bytes(kReplacementCost));
        out.add(text.marked, {copied, found});
        out.add(replacement.with.marked);
        copied = at = found + what.size();
        if (!what.empty()) continue;
        if (at == s.size()) break;  // an empty text stands before each character and at the end
        at += character_at(s, at).n_bytes;
    }
    out.add(text.marked, {copied, s.size()});
    return heap.string(out);
}

Result<Value> split(Heap& heap, const StrPtr& text, const Str* separator, int64_t at_most) {
    const std::string_view s = text->view();
    const auto most = static_cast<uint64_t>(at_most);
    KVIK_TRY_VOID(heap.budget().bytes(s.size()));
    if (!separator) return split_at_blanks(heap, text, most);
    const std::string_view between = separator->view();
    if (between.empty()) return type_error("a text cannot be split at an empty text");
    Pieces pieces(heap, text);
    size_t at = 0;
    while (pieces.n() < most) {
        const size_t found = find_text(s, between, at);
        if (found == s.npos) break;
        KVIK_TRY_VOID(pieces.add({at, found}));
        at = found + between.size();
    }
    KVIK_TRY_VOID(pieces.add({at, s.size()}));
    return pieces.list();
}

Result<std::vector<Line>> lines_of(Heap& heap, std::string_view text) {
    std::vector<Line> lines;
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
        const Character c = character_at(text, at);
        size_t next = at + c.n_bytes;
        if (is_line_end(c.code)) {
            if (c.code == '\r' && next < text.size() && text[next] == '\n') ++next;
            KVIK_TRY_VOID(heap.budget().bytes(sizeof(Line)));
            lines.push_back({{begin, at}, {at, next}});
            begin = next;
        }
        at = next;
    }
    if (begin < text.size()) lines.push_back({{begin, text.size()}, {text.size(), text.size()}});
    return lines;
}

}  // namespace kvik::jinja
