#include "cli/kv_tree_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "cli/terminal.h"
#include "text/detokenizer.h"

namespace kvik::cli {
namespace {

constexpr size_t kShownTokens = 12;

std::string first_words(const TreeLine& line, const Tokenizer* tokenizer) {
    const std::span<const TokenId> tokens =
        std::span(line.tokens).first(std::min(kShownTokens, line.tokens.size()));
    const char* more = tokens.size() < line.tokens.size() ? "..." : "";
    if (tokenizer == nullptr) return fmt::format("{}{}", fmt::join(tokens, " "), more);
    Detokenizer detokenizer(*tokenizer, Controls::shown);
    std::string text;
    for (const TokenId id : tokens) text += detokenizer.push(id);
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, " ");
    return fmt::format("\"{}{}\"", text, more);
}

std::string facts(const TreeLine& line) {
    std::string out = counted(line.n_tokens, "token");
    if (line.tier_tokens > 0) out += fmt::format(", {} on disk", line.tier_tokens);
    if (line.ghost_tokens > 0) out += fmt::format(", {} evicted", line.ghost_tokens);
    if (line.n_shared > 0) out += fmt::format(", {} in use", counted(line.n_shared, "block"));
    if (line.is_pinned) out += ", pinned";
    if (line.n_uses > 1) out += fmt::format(", used {} times", line.n_uses);
    return out;
}

}  // namespace

std::vector<std::string> draw_lines(const KvTree& tree, const Tokenizer* tokenizer) {
    std::vector<std::string> lines;
    for (const TreeLine& line : tree.lines) {
        std::string indent;
        for (uint32_t i = 0; i < std::min(line.depth, 20u); ++i) indent += "|  ";
        lines.push_back(printable(
            fmt::format("{}+- {}  {}", indent, facts(line), first_words(line, tokenizer))));
    }
    return lines;
}

}  // namespace kvik::cli
