#include "text/bpe_merges.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "text/bpe_alphabet.h"
#include "text/spm_spaces.h"
#include "text/utf8.h"

namespace kvik {

MergeTable::MergeTable(size_t n_merges) {
    slots_.resize(std::bit_ceil(2 * n_merges + 2));
    shift_ = 64 - std::countr_zero(slots_.size());
}

void MergeTable::insert(TokenId left, TokenId right, MergePair pair) {
    const uint64_t key = key_of(left, right);
    size_t i = place_of(key);
    // A pair that is there already stays in front, so that find() meets the first rank first.
    while (slots_[i].key != kFree) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = {key, pair};
}

Result<MergeTable> MergeTable::make(const std::vector<std::string>& merges,
                                    const PieceTable& pieces, Spelling spelling) {
    const auto append = [spelling](std::string_view text, std::string& out) {
        if (spelling == Spelling::byte_alphabet)
            append_spelled_bytes(text, out);
        else
            append_unmarked(text, out);
    };
    MergeTable table(merges.size());
    std::string bytes;
    for (size_t rank = 0; rank < merges.size(); ++rank) {
        const std::string_view line = merges[rank];
        const size_t gap = line.find(' ', 1);
        if (gap == std::string_view::npos || gap + 1 == line.size())
            return fail(ErrorKind::file,
                        fmt::format("tokenizer: merges[{}] is '{}': two tokens and a space between "
                                    "them are needed",
                                    rank, shown(line)));
        bytes.clear();
        append(line.substr(0, gap), bytes);
        const size_t n_left = bytes.size();
        append(line.substr(gap + 1), bytes);
        const std::string_view whole = bytes;
        const auto left = pieces.find(whole.substr(0, n_left));
        const auto right = pieces.find(whole.substr(n_left));
        const auto merged = pieces.find(whole);
        if (!left || !right || !merged)
            return fail(
                ErrorKind::file,
                fmt::format("tokenizer: merges[{}] is '{}': {} is not a token", rank, shown(line),
                            !left    ? "its left part"
                            : !right ? "its right part"
                                     : "what it makes"));
        table.insert(*left, *right, {static_cast<uint32_t>(rank), *merged});
    }
    return table;
}

}  // namespace kvik
