// The commands of a chat that only show something.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/chat_loop.h"
#include "cli/kv_report_text.h"
#include "cli/kv_tree_text.h"
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

constexpr uint32_t kMostTreeLines = 40;

uint32_t room() {
    return is_terminal(STDERR_FILENO) ? columns_of(STDERR_FILENO) : 1000;
}

// What does not fit goes on under where the value begins.
void note_value(const std::string& line, uint32_t indent = 9) {
    note(wrapped(line, room(), indent) + "\n");
}

// A name and what it is for, beside each other where there is room.
void note_entry(const std::string& name, std::string_view help, uint32_t column) {
    const uint32_t n_columns = room();
    const uint32_t indent = n_columns < 60 ? 4 : column;
    const std::string line =
        indent == column
            ? wrapped(fmt::format("{:{}}{}", name, column, help), n_columns, column)
            : name + "\n" + wrapped(std::string(4, ' ') + std::string(help), n_columns, 4);
    note(line + "\n");
}

}  // namespace

ChatLoop::Done ChatLoop::list(const std::string&) {
    size_t n = 0;
    for (const ChatMessage& message : session().messages()) {
        const bool is_users = message.role == "user";
        const std::string number = is_users ? fmt::format("{}", ++n) : "";
        std::string line = message.content.substr(0, 1000);
        std::replace(line.begin(), line.end(), '\n', ' ');
        line = fmt::format("{:>3} {:10}{}", number, message.role, printable(line));
        note(cut_to_columns(line, room()) + "\n");
    }
    if (session().messages().empty()) note("no messages yet\n");
    return Next::go_on;
}

ChatLoop::Done ChatLoop::show_answers(const std::string&) {
    const std::vector<std::string> answers = talk_now().answers();
    if (answers.empty()) note("no answer yet\n");
    for (size_t i = 0; i < answers.size(); ++i) {
        std::string line = answers[i].substr(0, 1000);
        std::replace(line.begin(), line.end(), '\n', ' ');
        const char mark = i + 1 == talk_now().shown() ? '*' : ' ';
        line = fmt::format("{} {:>3}  {}", mark, i + 1, printable(line));
        note(cut_to_columns(line, room()) + "\n");
    }
    return Next::go_on;
}

ChatLoop::Done ChatLoop::show_what(const std::string& rest) {
    if (rest == "info") {
        show_info();
    } else if (rest == "parameters") {
        show_settings();
    } else if (rest == "system") {
        return change_system("");
    } else if (rest == "template") {
        note(engine_.chat_template()->source() + "\n");
    } else if (rest == "license" || rest == "modelfile") {
        return fail(ErrorKind::usage, "kvik show MODEL tells all that the file says");
    } else {
        return fail(ErrorKind::usage, "/show info, /show parameters, /show system, /show template");
    }
    return Next::go_on;
}

void ChatLoop::show_info() const {
    const ModelSpec& model = engine_.model();
    const UsedSettings& used = engine_.used();
    note_value(printable(fmt::format("model    {}", model.name.empty() ? "no name" : model.name)));
    note_value(
        printable(fmt::format("family   {}, {:.0f} M parameters, {:.0f} MiB of weights",
                              model.architecture, static_cast<double>(model.n_parameters) / 1e6,
                              static_cast<double>(model.weight_bytes) / (1 << 20))));
    note_value(fmt::format("context  {} tokens, the model was made for {}", used.context,
                           model.context_length));
}

ChatLoop::Done ChatLoop::show_stats(const std::string&) {
    const SessionStats stats = session().stats();
    note_value(fmt::format("context  {} of {} tokens in {}", stats.n_tokens, context(),
                           counted(stats.n_messages, "message")));
    note_value(fmt::format("prompts  {} tokens, {} of them cached ({:.0f} %)", n_prompt_, n_cached_,
                           percent(n_cached_, n_prompt_)));
    note_value(fmt::format("answers  {}", counted(n_decoded_, "token")));
    if (stats.n_invalidations > 0)
        note_value(fmt::format("edits    {}, after which {} no longer counted",
                               stats.n_invalidations,
                               counted(stats.n_invalidated_tokens, "token")));
    const UsedSettings& used = engine_.used();
    note_value(fmt::format("engine   {} threads, {}, {} activations, {} KV", used.n_threads,
                           used.isa, used.act, used.kv));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::show_cache(const std::string&) {
    const CacheStats cache = engine_.cache_stats();
    const uint32_t n_used = cache.n_blocks - cache.n_free_blocks;
    const uint64_t n_all = cache.n_hit_tokens + cache.n_computed_tokens;
    note_value(fmt::format("blocks   {} {} of {} hold tokens, {} KiB each",
                           bar(n_used, cache.n_blocks), n_used, cache.n_blocks,
                           cache.block_bytes >> 10));
    note_value(fmt::format(
        "tokens   {} {} found{}, {} computed{}", bar(cache.n_hit_tokens, n_all), cache.n_hit_tokens,
        cache.n_disk_tokens > 0 ? fmt::format(" ({} on disk)", cache.n_disk_tokens) : "",
        cache.n_computed_tokens,
        cache.saved_ms >= 1 ? fmt::format(", about {:.1f} s saved", cache.saved_ms / 1000) : ""));
    KVIK_TRY(const KvTree tree, engine_.cache_tree(kMostTreeLines));
    note_value(
        fmt::format("kept     {} tokens can be found again, {:.1f} times shared, {:.1f} % of "
                    "the room in their blocks is empty",
                    cache.n_cached_tokens, tree.accounts.sharing(), tree.accounts.waste_percent()));
    note_value(
        fmt::format("freed    {} blocks to make room, {} because nothing needed them; {} "
                    "sequences were paused",
                    cache.n_evicted_blocks, cache.n_forgotten_blocks, cache.n_preemptions));
    for (const std::string& line : draw_lines(tree, engine_.tokenizer()))
        note(cut_to_columns(line, room()) + "\n");
    if (tree.lines.size() == kMostTreeLines) note("... and more\n");
    show_branches();
    return Next::go_on;
}

ChatLoop::Done ChatLoop::show_why(const std::string&) {
    if (!last_report_) return fail(ErrorKind::usage, "nothing has been asked yet");
    for (const std::string& line : describe_lines(*last_report_)) note_value(line, 16);
    return Next::go_on;
}

// Each under the one that it came from:
//   * main     6 messages, 120 tokens
//     `- other 8 messages, 160 tokens, from main after 4
void ChatLoop::show_branches() {
    std::vector<std::pair<std::string, size_t>> depths;
    for (Branch& branch : branches_.all()) {
        size_t depth = 0;
        for (const auto& [name, its_depth] : depths)
            if (name == branch.from) depth = its_depth + 1;
        depths.emplace_back(branch.name, depth);
        const std::string name =
            depth == 0 ? branch.name : std::string(3 * depth - 3, ' ') + "`- " + branch.name;
        const SessionStats stats = branch.talk.session().stats();
        const std::string origin =
            depth == 0 ? "" : fmt::format(", from {} after {}", branch.from, branch.n_shared);
        const char mark = &branch == &branches_.current() ? '*' : ' ';
        note_value(printable(fmt::format("{} {:14} {}, {}{}", mark, name,
                                         counted(stats.n_messages, "message"),
                                         counted(stats.n_tokens, "token"), origin)));
    }
}

void ChatLoop::show_settings() const {
    for (const Setting& setting : all_settings())
        note_entry(printable(fmt::format("{:18}{:<8} ", setting.name, setting.describe(settings_))),
                   setting.help, 28);
}

// All of it fits a terminal of 24 lines of 80 columns, beside what was typed and the next prompt.
ChatLoop::Done ChatLoop::show_help(const std::string&) {
    constexpr uint32_t kColumn = 22;
    for (const Command& command : commands())
        if (!command.shown.empty()) note_entry(std::string(command.shown), command.help, kColumn);
    constexpr std::pair<const char*, std::string_view> kKeys[] = {
        {"\"\"\"TEXT\"\"\"", "a message of several lines; Alt-Enter makes one, too"},
        {"//text", "a message that begins with a slash"},
        {"Ctrl-C", "end the answer, keep its text; at a prompt: drop the line"},
    };
    for (const auto& [keys, help] : kKeys) note_entry(keys, help, kColumn);
    return Next::go_on;
}

}  // namespace kvik::cli
