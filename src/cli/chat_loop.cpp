#include "cli/chat_loop.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/line_reader.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

namespace kvik::cli {

struct ChatLoop::Command {
    std::string_view name;
    std::string_view help;
    Next (ChatLoop::*act)();
};

std::span<const ChatLoop::Command> ChatLoop::commands() {
    static constexpr Command kCommands[] = {
        {"/clear", "forget the conversation, keep the system message", &ChatLoop::clear},
        {"/stats", "tokens, context and cache so far", &ChatLoop::show_stats},
        {"/help", "this list", &ChatLoop::show_help},
        {"/exit", "leave, as Ctrl-D does", &ChatLoop::leave},
    };
    return kCommands;
}

ChatLoop::ChatLoop(Engine& engine, ChatOptions options, Interrupts& interrupts)
    : engine_(engine),
      options_(std::move(options)),
      interrupts_(interrupts),
      interactive_(is_terminal(STDIN_FILENO)),
      session_(engine) {
    if (options_.system) session_.set_system(*options_.system);
}

Result<int> ChatLoop::talk() {
    // A model without tokenizer or template is told of before the first message.
    KVIK_TRY_VOID(engine_.encode_chat({{"user", "Hello"}}));
    greet();
    LineReader reader(STDIN_FILENO, &interrupts_);
    std::string line;
    bool leaving = false;
    for (;;) {
        if (interactive_) note(">>> ");
        KVIK_TRY(const auto got, reader.next(line));
        if (got == LineReader::Got::end) {
            if (interactive_) note("\n");
            return exit_code_;
        }
        if (got == LineReader::Got::interrupt) {
            note("\n");
            if (leaving || !interactive_) return static_cast<int>(ErrorKind::cancelled);
            leaving = true;
            note("(Ctrl-C again or Ctrl-D leaves)\n");
            continue;
        }
        leaving = false;
        if (line.find_first_not_of(" \t") == std::string::npos) continue;
        if (line.front() == '/') {
            if (obey(line) == Next::leave) return exit_code_;
            continue;
        }
        KVIK_TRY_VOID(answer(line));
    }
}

void ChatLoop::greet() const {
    if (!interactive_ || !is_terminal(STDERR_FILENO)) return;
    const ModelSpec& model = engine_.model();
    note(dim(fmt::format("{} - context {} - /help lists the commands, Ctrl-D leaves",
                         printable(model.name.empty() ? model.architecture : model.name),
                         engine_.used().context)) +
         "\n");
}

ChatLoop::Next ChatLoop::obey(std::string_view line) {
    const std::string_view word = line.substr(0, line.find_last_not_of(" \t") + 1);
    std::vector<std::string> names;
    for (const Command& command : commands()) {
        if (command.name == word) return (this->*command.act)();
        names.emplace_back(command.name);
    }
    const auto meant = nearest(word, names);
    note(fmt::format("{} is no command: {} (a blank before it makes it a message)\n", word,
                     meant ? fmt::format("did you mean {}?", *meant) : "/help lists them"));
    return Next::go_on;
}

ChatLoop::Next ChatLoop::clear() {
    session_.clear();
    n_context_ = 0;
    return Next::go_on;
}

ChatLoop::Next ChatLoop::show_stats() {
    const CacheStats cache = engine_.cache_stats();
    const double share =
        n_prompt_ == 0 ? 0 : 100 * static_cast<double>(n_cached_) / static_cast<double>(n_prompt_);
    note(
        fmt::format("context {} of {} tokens in {} messages\n"
                    "prompts {} tokens, {} of them cached ({:.0f} %); answers {} tokens\n"
                    "cache   {} of {} blocks free, {} KiB each; {} tokens to be found again, {} "
                    "blocks evicted\n",
                    n_context_, engine_.used().context, session_.messages().size(), n_prompt_,
                    n_cached_, share, n_decoded_, cache.n_free, cache.n_blocks,
                    cache.block_bytes >> 10, cache.cached_tokens, cache.evicted_blocks));
    return Next::go_on;
}

ChatLoop::Next ChatLoop::show_help() {
    for (const Command& command : commands())
        note(fmt::format("{:8}{}\n", command.name, command.help));
    note("Ctrl-C  stop the answer and keep what was said\n");
    return Next::go_on;
}

ChatLoop::Next ChatLoop::leave() {
    return Next::leave;
}

Result<Reply> ChatLoop::ask(const std::string& line) {
    GenerateRequest how;
    how.sampling = options_.sampling;
    how.max_new_tokens = options_.answer.max_new_tokens;
    how.end_tokens = options_.answer.end_tokens;
    how.stop = options_.answer.stop;
    KVIK_TRY(Stream stream, session_.send(line, std::move(how)));
    return collect(stream, interrupts_, put);
}

Result<void> ChatLoop::answer(const std::string& line) {
    const size_t n_before = session_.messages().size();
    auto reply = ask(line);
    if (!reply) {
        if (is_reader_gone(reply.error())) return tl::unexpected(std::move(reply).error());
        tell(reply.error());
        return {};
    }
    if (!reply->text.ends_with('\n')) KVIK_TRY_VOID(put("\n"));
    const Timings& timings = reply->summary.timings;
    n_prompt_ += timings.prompt_n;
    n_cached_ += timings.cached_n;
    n_decoded_ += timings.decode_n;
    if (session_.messages().size() == n_before) {
        note(dim("no answer: the message was dropped") + "\n");
        return {};
    }
    n_context_ = timings.prompt_n + timings.decode_n;
    tell_status(reply->summary);
    return {};
}

void ChatLoop::tell(const Error& error) {
    if (!interactive_) exit_code_ = static_cast<int>(error.kind);
    const bool full = error.kind == ErrorKind::context;
    note(fmt::format("kvik: {}{}\n", printable(error.message), full ? "; /clear starts over" : ""));
}

void ChatLoop::tell_status(const Summary& summary) const {
    const uint32_t context = engine_.used().context;
    if (summary.reason == FinishReason::length && n_context_ >= context)
        note(
            fmt::format("kvik: the context of {} tokens is full: /clear starts over, --ctx makes "
                        "it larger\n",
                        context));
    if (interactive_ && is_terminal(STDERR_FILENO))
        note(dim(status_line(summary.timings, context)) + "\n");
}

}  // namespace kvik::cli
