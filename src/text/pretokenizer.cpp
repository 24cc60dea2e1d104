#include "text/pretokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "text/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace kvik {
namespace {

// The patterns of the table backtrack by one step a character at most. The limits are a belt for
// the day when one does not: the rest of the text is then one piece.
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

Result<Code> compile(std::string_view pattern, Matching matching) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    Code code(pcre2_compile(units(pattern), pattern.size(), PCRE2_UTF, &error, &offset, nullptr));
    if (code == nullptr)
        return fail(
            ErrorKind::unsupported,
            fmt::format("this PCRE2 has no Unicode support (error {}): use one built with it",
                        error));
    // Where executable memory is refused, this fails and matching is interpreted.
    if (matching == Matching::jit) (void)pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
    return code;
}

}  // namespace

struct Pretokenizer::Compiled {
    const PretokenizerPattern* pattern = nullptr;
    std::vector<Code> splits;
    Context context;
    uint32_t options = 0;

    // Cuts text[begin, end), valid UTF-8, by one split.
    void cut(const Code& code, std::string_view text, uint32_t begin, uint32_t end,
             pcre2_match_data* match, std::vector<uint32_t>& ends) const {
        const std::string_view part = text.substr(begin, end - begin);
        uint32_t done = 0;
        while (done < part.size()) {
            const int n = pcre2_match(code.get(), units(part), part.size(), done, options, match,
                                      context.get());
            if (n <= 0) break;
            const PCRE2_SIZE* found = pcre2_get_ovector_pointer(match);
            const uint32_t from = static_cast<uint32_t>(found[0]);
            const uint32_t to = static_cast<uint32_t>(found[1]);
            if (from > done) ends.push_back(begin + from);
            ends.push_back(begin + to);
            done = to;
        }
        if (done < part.size()) ends.push_back(end);
    }
};

Pretokenizer::Pretokenizer(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Pretokenizer::Pretokenizer(Pretokenizer&&) noexcept = default;
Pretokenizer& Pretokenizer::operator=(Pretokenizer&&) noexcept = default;
Pretokenizer::~Pretokenizer() = default;

Result<Pretokenizer> Pretokenizer::make(std::string_view name, Matching matching) {
    const PretokenizerPattern* pattern = nullptr;
    std::vector<std::string_view> known;
    for (const PretokenizerPattern& row : kPretokenizerPatterns) {
        known.push_back(row.name);
        if (row.name == name) pattern = &row;
    }
    if (pattern == nullptr)
        return fail(ErrorKind::unsupported,
                    fmt::format("pre-tokenizer '{}' is not known: use a model with one of {}", name,
                                fmt::join(known, ", ")));
    auto compiled = std::make_unique<Compiled>();
    compiled->pattern = pattern;
    for (std::string_view split : pattern->splits) {
        if (split.empty()) continue;
        KVIK_TRY(Code code, compile(split, matching));
        compiled->splits.push_back(std::move(code));
    }
    compiled->context.reset(pcre2_match_context_create(nullptr));
    if (compiled->context == nullptr)
        return fail(ErrorKind::memory, "no memory for a pre-tokenizer: free some");
    pcre2_set_match_limit(compiled->context.get(), kMatchLimit);
    pcre2_set_heap_limit(compiled->context.get(), kHeapLimitKib);
    compiled->options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
    if (matching == Matching::interpreted) compiled->options |= PCRE2_NO_JIT;
    return Pretokenizer(std::move(compiled));
}

WholePieces Pretokenizer::whole_pieces() const {
    return compiled_->pattern->whole;
}

void Pretokenizer::split(std::string_view text, std::vector<uint32_t>& ends) const {
    KVIK_CHECK(text.size() < UINT32_MAX, "a text to tokenize is under 4 GiB");
    ends.clear();
    const Match match(pcre2_match_data_create(1, nullptr));
    KVIK_CHECK(match != nullptr, "there is memory for one match");
    std::vector<uint32_t> before;
    for (size_t at = 0; at < text.size();) {
        const size_t n_valid = utf8_valid_prefix(text.substr(at));
        const size_t first = ends.size();
        if (n_valid > 0) ends.push_back(static_cast<uint32_t>(at + n_valid));
        for (const Code& code : compiled_->splits) {
            before.assign(ends.begin() + static_cast<ptrdiff_t>(first), ends.end());
            ends.resize(first);
            uint32_t begin = static_cast<uint32_t>(at);
            for (uint32_t end : before) {
                compiled_->cut(code, text, begin, end, match.get(), ends);
                begin = end;
            }
        }
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
