// The commands of a chat that only show something.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/chat_loop.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

// "[####......]"
std::string bar(uint64_t part, uint64_t whole) {
    constexpr uint64_t kWidth = 24;
    const uint64_t n_full = whole == 0 ? 0 : std::min(kWidth, (part * kWidth + whole - 1) / whole);
    return fmt::format("[{:.<{}}]", std::string(n_full, '#'), kWidth);
}

double percent(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

void note_line(const std::string& line) {
    const uint32_t n_columns = is_terminal(STDERR_FILENO) ? columns_of(STDERR_FILENO) : 1000;
    note(cut_to_columns(line, n_columns) + "\n");
}

}  // namespace

ChatLoop::Done ChatLoop::list(const std::string&) {
    size_t n = 0;
    for (const ChatMessage& message : session().messages()) {
        const bool is_users = message.role == "user";
        const std::string number = is_users ? fmt::format("{}", ++n) : "";
        std::string line = message.content.substr(0, 1000);
        std::replace(line.begin(), line.end(), '\n', ' ');
        note_line(fmt::format("{:>3} {:10}{}", number, message.role, printable(line)));
    }
    if (session().messages().empty()) note("no messages yet\n");
    return Next::go_on;
}

ChatLoop::Done ChatLoop::show_stats(const std::string&) {
    const SessionStats stats = session().stats();
    note_line(fmt::format("context  {} of {} tokens in {} messages", stats.n_tokens, context(),
                          stats.n_messages));
    note_line(fmt::format("prompts  {} tokens, {} of them cached ({:.0f} %)", n_prompt_, n_cached_,
                          percent(n_cached_, n_prompt_)));
    note_line(fmt::format("answers  {} tokens", n_decoded_));
    const UsedSettings& used = engine_.used();
    note_line(fmt::format("engine   {} threads, {}, {} activations, {} KV", used.n_threads,
                          used.isa, used.act, used.kv));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::show_cache(const std::string&) {
    const CacheStats cache = engine_.cache_stats();
    const uint32_t n_used = cache.n_blocks - cache.n_free;
    const uint64_t n_all = cache.hit_tokens + cache.computed_tokens;
    note_line(fmt::format("blocks   {} {} of {} hold tokens, {} KiB each",
                          bar(n_used, cache.n_blocks), n_used, cache.n_blocks,
                          cache.block_bytes >> 10));
    note_line(fmt::format("tokens   {} {} of {} were found, not computed",
                          bar(cache.hit_tokens, n_all), cache.hit_tokens, n_all));
    note_line(fmt::format("kept     {} tokens can be found again, {} blocks were evicted",
                          cache.cached_tokens, cache.evicted_blocks));
    show_branches();
    return Next::go_on;
}

// Each under the one that it came from:  main -> try, after 4 messages
void ChatLoop::show_branches() {
    for (Branch& branch : branches_.all()) {
        const SessionStats stats = branch.session.stats();
        const bool is_here = &branch == &branches_.current();
        const std::string origin =
            branch.from.empty() ? ""
                                : fmt::format(", from {} after {}", branch.from, branch.n_shared);
        note_line(printable(fmt::format("{} {:8} {} messages, {} tokens{}", is_here ? '*' : ' ',
                                        branch.name, stats.n_messages, stats.n_tokens, origin)));
    }
}

void ChatLoop::show_settings() const {
    for (const Setting& setting : all_settings())
        note_line(printable(fmt::format("{:18}{:<8}  {}", setting.name, setting.describe(settings_),
                                        setting.help)));
}

ChatLoop::Done ChatLoop::show_help(const std::string&) {
    for (const Command& command : commands())
        note_line(fmt::format("{:24}{}", fmt::format("{} {}", command.name, command.arguments),
                              command.help));
    constexpr std::string_view kKeys[] = {
        "\"\"\" ... \"\"\", \\ at the end    several lines; so does a paste, or Alt-Enter",
        "//text                  a message that begins with a slash",
        "Up, Down, Ctrl-R        what was typed before",
        "Ctrl-C                  stop the answer and keep what was said; drop the line",
    };
    for (const std::string_view line : kKeys) note_line(std::string(line));
    return Next::go_on;
}

}  // namespace kvik::cli
