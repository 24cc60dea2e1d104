#include "text/pretokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "text/pretokenizer_regex.h"
#include "text/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace kvik {
namespace {

// The patterns of the table backtrack by one step a character at most. An expression from a file
// may not be so kind: where it meets a limit, the rest of the text is left uncut.
constexpr uint32_t kMatchLimit = 10'000'000;
constexpr uint32_t kHeapLimitKib = 64 * 1024;

struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Code = std::unique_ptr<pcre2_code, FreeCode>;
using Context = std::unique_ptr<pcre2_match_context, FreeContext>;
using Match = std::unique_ptr<pcre2_match_data, FreeMatch>;

PCRE2_SPTR units(std::string_view text) {
    return reinterpret_cast<PCRE2_SPTR>(text.data());
}

// One split: its expression over kinds of characters.
struct Split {
    Code code;
    CharacterKinds kinds;
};

Result<Split> compile(std::string_view source, Matching matching) {
    KVIK_TRY(KindRegex regex, translate_regex(source));
    const std::string& pattern = regex.pattern;
    int error = 0;
    PCRE2_SIZE offset = 0;
    Code code(pcre2_compile(units(pattern), pattern.size(), 0, &error, &offset, nullptr));
    if (code == nullptr) {
        std::array<PCRE2_UCHAR, 120> why{};
        (void)pcre2_get_error_message(error, why.data(), why.size());
        return fail(ErrorKind::unsupported,
                    fmt::format("pre-tokenizer pattern '{}' cannot be compiled: {}: use another "
                                "model, or token ids",
                                shown(source), reinterpret_cast<const char*>(why.data())));
    }
    uint32_t may_be_empty = 0;
    (void)pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &may_be_empty);
    if (may_be_empty != 0)
        return fail(ErrorKind::unsupported,
                    fmt::format("pre-tokenizer pattern '{}' could match nothing at all: use "
                                "another model, or token ids",
                                shown(source)));
    // Where executable memory is refused, this fails and matching is interpreted.
    if (matching == Matching::jit) (void)pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
    return Split{std::move(code), std::move(regex.kinds)};
}

size_t character_bytes(char lead) {
    const auto byte = static_cast<uint8_t>(lead);
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// Ends in characters -> ends in bytes of the text.
void to_bytes(std::string_view text, size_t first_byte, std::span<uint32_t> ends) {
    size_t at = 0;
    uint32_t n_characters = 0;
    for (uint32_t& end : ends) {
        for (; n_characters < end; ++n_characters) at += character_bytes(text[at]);
        end = static_cast<uint32_t>(first_byte + at);
    }
}

}  // namespace

// A piece of these has white space at its start alone, or is nothing else: one ends before a space
// that follows anything else. What they match before it they match at the end of a text too: a
// run of characters ends there as at a space, and the only look-ahead is one behind white space.
static bool end_before_spaces(std::span<const std::string_view> splits) {
    const auto is_whole = [](std::string_view split) {
        return std::find(kWholeTextSplits.begin(), kWholeTextSplits.end(), split) !=
               kWholeTextSplits.end();
    };
    return std::any_of(splits.begin(), splits.end(), is_whole) &&
           std::all_of(splits.begin(), splits.end(), [&](std::string_view split) {
               return split == kDigitSplit || is_whole(split);
           });
}

struct Pretokenizer::Compiled {
    WholePieces whole = WholePieces::merged;
    bool ends_before_spaces = false;
    std::vector<Split> splits;
    Context context;
    uint32_t options = 0;

    int find(const Code& code, std::string_view part, uint32_t from,
             pcre2_match_data* match) const {
        int n =
            pcre2_match(code.get(), units(part), part.size(), from, options, match, context.get());
        if (n == PCRE2_ERROR_JIT_STACKLIMIT)
            n = pcre2_match(code.get(), units(part), part.size(), from, options | PCRE2_NO_JIT,
                            match, context.get());
        return n;
    }

    // Cuts kinds[begin, end) by one split. Says whether it met no limit.
    bool cut(const Code& code, std::string_view kinds, uint32_t begin, uint32_t end,
             pcre2_match_data* match, std::vector<uint32_t>& ends) const {
        const std::string_view part = kinds.substr(begin, end - begin);
        uint32_t done = 0;
        while (done < part.size()) {
            const int n = find(code, part, done, match);
            if (n <= 0) {
                ends.push_back(end);
                return n == PCRE2_ERROR_NOMATCH;
            }
            const PCRE2_SIZE* found = pcre2_get_ovector_pointer(match);
            const uint32_t from = static_cast<uint32_t>(found[0]);
            const uint32_t to = static_cast<uint32_t>(found[1]);
            if (from > done) ends.push_back(begin + from);
            ends.push_back(begin + to);
            done = to;
        }
        return true;
    }

    // Appends the ends of the pieces of valid UTF-8, not empty, that begins at `first_byte`.
    void split(std::string_view text, size_t first_byte, std::string& kinds,
               pcre2_match_data* match, std::vector<uint32_t>& ends) const {
        const size_t first = ends.size();
        std::vector<uint32_t> before;
        for (const Split& one : splits) {
            one.kinds.spell(text, kinds);
            before.assign(ends.begin() + static_cast<ptrdiff_t>(first), ends.end());
            if (before.empty()) before.push_back(static_cast<uint32_t>(kinds.size()));
            ends.resize(first);
            uint32_t begin = 0;
            bool may_cut = true;
            for (uint32_t end : before) {
                if (may_cut)
                    may_cut = cut(one.code, kinds, begin, end, match, ends);
                else
                    ends.push_back(end);
                begin = end;
            }
        }
        if (splits.empty())
            ends.push_back(static_cast<uint32_t>(first_byte + text.size()));
        else
            to_bytes(text, first_byte, std::span(ends).subspan(first));
    }
};

Pretokenizer::Pretokenizer(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Pretokenizer::Pretokenizer(Pretokenizer&&) noexcept = default;
Pretokenizer& Pretokenizer::operator=(Pretokenizer&&) noexcept = default;
Pretokenizer::~Pretokenizer() = default;

Result<Pretokenizer> Pretokenizer::named(std::string_view name, Matching matching) {
    const PretokenizerPattern* row = find_pretokenizer_pattern(name);
    if (row == nullptr)
        return fail(ErrorKind::unsupported,
                    fmt::format("pre-tokenizer '{}' is not known, so text cannot be tokenized: use "
                                "another model, or token ids",
                                shown(name)));
    const auto end = std::find(row->splits->begin(), row->splits->end(), std::string_view());
    return of(std::span(row->splits->begin(), end), row->whole, matching);
}

Result<Pretokenizer> Pretokenizer::of(std::span<const std::string_view> splits, WholePieces whole,
                                      Matching matching) {
    auto compiled = std::make_unique<Compiled>();
    compiled->whole = whole;
    compiled->ends_before_spaces = end_before_spaces(splits);
    for (std::string_view split : splits) {
        KVIK_TRY(Split compiled_split, compile(split, matching));
        compiled->splits.push_back(std::move(compiled_split));
    }
    compiled->context.reset(pcre2_match_context_create(nullptr));
    if (compiled->context == nullptr)
        return fail(ErrorKind::memory, "no memory for a pre-tokenizer: free some");
    pcre2_set_match_limit(compiled->context.get(), kMatchLimit);
    pcre2_set_heap_limit(compiled->context.get(), kHeapLimitKib);
    compiled->options = PCRE2_NOTEMPTY;
    if (matching == Matching::interpreted) compiled->options |= PCRE2_NO_JIT;
    return Pretokenizer(std::move(compiled));
}

WholePieces Pretokenizer::whole_pieces() const {
    return compiled_->whole;
}

bool Pretokenizer::ends_before_spaces() const {
    return compiled_->ends_before_spaces;
}

void Pretokenizer::split(std::string_view text, std::vector<uint32_t>& ends) const {
    KVIK_CHECK(text.size() < UINT32_MAX, "a text to tokenize is under 4 GiB");
    ends.clear();
    const Match match(pcre2_match_data_create(1, nullptr));
    KVIK_CHECK(match != nullptr, "there is memory for one match");
    std::string kinds;
    for (size_t at = 0; at < text.size();) {
        const size_t n_valid = utf8_valid_prefix(text.substr(at));
        if (n_valid > 0) compiled_->split(text.substr(at, n_valid), at, kinds, match.get(), ends);
        at += n_valid;
        const size_t broken = at;
        while (at < text.size()) {
            const Utf8Unit unit = utf8_unit(text.substr(at));
            if (unit.kind == Utf8Kind::character) break;
            at += unit.n_bytes;
        }
        if (at > broken) ends.push_back(static_cast<uint32_t>(at));
    }
}

}  // namespace kvik
