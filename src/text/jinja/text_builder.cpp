#include "text/jinja/text_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvik::jinja {
namespace {

// The first range that ends after `byte`.
std::vector<ByteRange>::const_iterator range_after(const MarkedText& text, size_t byte) {
    return std::partition_point(text.untrusted.begin(), text.untrusted.end(),
                                [&](const ByteRange& r) { return r.end <= byte; });
}

}  // namespace

Mark mark_at(const MarkedText& text, size_t byte) {
    const auto range = range_after(text, byte);
    const bool inside = range != text.untrusted.end() && range->begin <= byte;
    return inside ? Mark::untrusted : Mark::trusted;
}

bool TextBuilder::take(size_t n_bytes) {
    const uint64_t left = budget_.limits().string_bytes - built_.text.size();
    full_ = full_ || n_bytes > left || !budget_.spend_bytes(n_bytes);
    return !full_;
}

void TextBuilder::mark(ByteRange range) {
    if (range.begin == range.end) return;
    std::vector<ByteRange>& ranges = built_.untrusted;
    if (!ranges.empty() && ranges.back().end == range.begin) {
        ranges.back().end = range.end;
    } else if (budget_.spend_bytes(sizeof(ByteRange))) {
        ranges.push_back(range);
    } else {
        full_ = true;
    }
}

void TextBuilder::add(std::string_view bytes, Mark how) {
    if (!take(bytes.size())) return;
    const size_t begin = size();
    built_.text += bytes;
    if (how == Mark::untrusted) mark({begin, size()});
}

void TextBuilder::add(const MarkedText& from, ByteRange range) {
    if (!take(range.end - range.begin)) return;
    const size_t base = size();
    built_.text.append(from.text, range.begin, range.end - range.begin);
    for (auto r = range_after(from, range.begin); r != from.untrusted.end(); ++r) {
        if (r->begin >= range.end || full_) break;
        mark({base + std::max(r->begin, range.begin) - range.begin,
              base + std::min(r->end, range.end) - range.begin});
    }
}

Result<MarkedText> TextBuilder::finish() {
    if (!full_) return std::exchange(built_, {});
    if (budget_.exhausted()) return budget_.overspent();
    return fail(ErrorKind::failed, fmt::format("a text is over {} bytes: shorten the conversation",
                                               budget_.limits().string_bytes));
}

}  // namespace kvik::jinja
