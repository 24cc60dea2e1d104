#include "cli/chat_loop.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/repl/command_line.h"
#include "cli/repl/quiet_terminal.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/word_wrap.h"

namespace kvik::cli {
namespace {

constexpr const char* kPrompt = ">>> ";
constexpr const char* kMorePrompt = "... ";

// One line, broken between words where a terminal would break them.
std::string broken(const std::string& line) {
    return is_terminal(STDERR_FILENO) ? wrapped(line, columns_of(STDERR_FILENO)) : line;
}

}  // namespace

ChatLoop::ChatLoop(Engine& engine, ChatOptions options, Interrupts& interrupts)
    : engine_(engine),
      environment_(std::move(options.environment)),
      settings_(std::move(options.settings)),
      first_message_(std::move(options.first_message)),
      interrupts_(interrupts),
      input_(interrupts, environment_),
      branches_(engine),
      wraps_words_(!options.no_wrap),
      is_verbose_(options.verbose),
      resumes_(options.resume),
      system_(std::move(options.system)),
      overrule_(std::move(options.overrule)) {
    const auto folder = own_state_folder(environment_);
    const bool keeps = !options.no_autosave && input_.at_terminal();
    if ((keeps || options.resume) && folder)
        autosave_.emplace(*folder + "/chats", options.model_path, options.model_name);
    input_.complete_by([this](std::string_view line) { return complete(line); });
}

Result<int> ChatLoop::talk() {
    // A model without tokenizer or template is told of before the first message.
    KVIK_TRY_VOID(engine_.encode_chat({{"user", "Hello"}}));
    std::optional<Resumed> resumed;
    if (resumes_) {
        KVIK_TRY(resumed, resume());
    }
    greet();
    if (resumes_) KVIK_TRY_VOID(tell_resumed(resumed));
    if (system_) session().set_system(*system_);
    if (first_message_) {
        if (input_.at_terminal()) say(kPrompt + printable_lines(*first_message_));
        KVIK_TRY_VOID(take_and_tell({.text = *first_message_, .quoted = true}));
        to_edit_.reset();
    }
    MessageAssembly assembly;
    std::string text;
    for (;;) {
        const bool is_open = assembly.is_open();
        const Asked asked =
            std::exchange(to_edit_, std::nullopt).value_or(Asked{is_open ? kMorePrompt : kPrompt});
        if (interrupts_.ended_by() != 0) return 128 + interrupts_.ended_by();
        KVIK_TRY(const auto got, input_.next(asked, text));
        if (interrupts_.ended_by() != 0) {
            if (input_.at_terminal()) note("\n");
            continue;
        }
        if (got == LineReader::Got::interrupt) {
            assembly.finish();
            if (const auto code = interrupted(is_open || editing_ || !text.empty())) return *code;
            continue;
        }
        hinted_ = false;
        const bool ended = got == LineReader::Got::end;
        if (ended && input_.at_terminal()) note("\n");
        if (ended && std::exchange(editing_, std::nullopt)) continue;
        if (ended && !is_open) return exit_code_;
        if (!ended && assembly.take(text) == MessageAssembly::State::wants_more) continue;
        const Done done = take_and_tell(assembly.finish());
        if (!done) return tl::unexpected(done.error());
        if (*done == Next::leave) return exit_code_;
    }
}

ChatLoop::Done ChatLoop::take_and_tell(const Typed& typed) {
    const Done done = take(typed);
    keep();
    asked_.clear();
    if (done || is_reader_gone(done.error())) return done;
    tell(done.error());
    return Next::go_on;
}

void ChatLoop::greet() {
    if (!input_.at_terminal()) return;
    const ModelSpec& model = engine_.model();
    say(fmt::format("{} - context {}",
                    printable(model.name.empty() ? model.architecture : model.name), context()));
    if (settings_.sampling.temperature > 0)
        say(fmt::format("seed {}: --seed {} gives the same answers to the same messages",
                        *settings_.sampling.seed, *settings_.sampling.seed));
    say("/help lists the commands, Ctrl-D leaves");
    if (input_.trouble()) say(printable(*input_.trouble()));
}

// An exit code, if that was the last one.
std::optional<int> ChatLoop::interrupted(bool had_text) {
    editing_.reset();
    if (!input_.can_edit()) note("\n");
    if (!input_.at_terminal() || (hinted_ && !had_text))
        return static_cast<int>(ErrorKind::cancelled);
    hinted_ = !had_text;
    if (hinted_) say("(Ctrl-C again or Ctrl-D leaves)");
    return std::nullopt;
}

ChatLoop::Done ChatLoop::take(const Typed& typed) {
    const auto index = std::exchange(editing_, std::nullopt);
    if (!typed.quoted && trimmed(typed.text).empty()) return Next::go_on;
    input_.remember(typed.quoted ? "\"\"\"" + typed.text + "\"\"\"" : typed.text);
    const auto command = command_of(typed);
    if (command && !index) return obey(command->name, command->rest);
    const std::string message = to_send_ + message_of(typed);
    KVIK_TRY(const bool came,
             answer_to(message, index.value_or(SIZE_MAX), [&](GenerateRequest how) {
                 return index ? session().edit(*index, message, std::move(how))
                              : session().send(message, std::move(how));
             }));
    if (!came) return Next::go_on;
    to_send_.clear();
    talk_now().sent();
    return Next::go_on;
}

// The conversation is kept with the message before the answer comes, so that whatever ends the
// program leaves it to be asked again. `index`: which message it takes the place of.
Result<bool> ChatLoop::answer_to(const std::string& message, size_t index, const Ask& ask) {
    asked_ = session().messages();
    asked_.resize(std::min(index, asked_.size()));
    asked_.push_back({"user", message});
    KVIK_TRY(const bool came, answer(ask));
    const auto& messages = session().messages();
    const bool is_first = std::none_of(messages.begin(), messages.end(),
                                       [](const ChatMessage& one) { return one.role == "user"; });
    if (!came && is_first && interrupts_.ended_by() == 0 && autosave_) autosave_->drop();
    return came;
}

Result<bool> ChatLoop::answer(const Ask& ask, std::string_view then) {
    GenerateRequest how;
    how.sampling = settings_.sampling;
    *how.sampling.seed += std::exchange(seed_offset_, 0);
    how.max_new_tokens = settings_.answer.max_new_tokens;
    how.end_tokens = settings_.answer.end_tokens;
    how.stop = settings_.answer.stop;
    how.want_kv_report = true;
    session().set_options(settings_.session);
    const uint32_t n_left_out = session().stats().n_left_out;
    KVIK_TRY(Stream stream, ask(std::move(how)));
    if (!asked_.empty()) {
        SavedChat chat{.model = engine_.model().name, .messages = asked_, .settings = settings_};
        keep(chat);
    }
    QuietTerminal quiet;
    WordWrap words(columns_of(STDOUT_FILENO));
    const bool wraps = wraps_words_ && is_terminal(STDOUT_FILENO);
    const auto show = [&](std::string_view text) {
        if (!wraps) return put(text);
        std::string lines;
        words.push(text, lines);
        return put(lines);
    };
    KVIK_TRY(const Reply reply,
             collect(stream, interrupts_, show, {.leaving = [&] { quiet.restore(); }}));
    quiet.restore();
    std::string last_word;
    words.finish(last_word);
    KVIK_TRY_VOID(put(last_word));
    if (!reply.text.ends_with('\n') && !(reply.text.empty() && input_.at_terminal()))
        KVIK_TRY_VOID(put("\n"));
    last_report_ = reply.summary.kv_report;
    const Timings& timings = reply.summary.timings;
    n_prompt_ += timings.n_prompt_tokens;
    n_cached_ += timings.n_cached_tokens;
    n_decoded_ += timings.n_generated_tokens;
    if (reply.ids.empty()) {
        const bool stopped = reply.summary.reason == FinishReason::cancelled;
        say(fmt::format(
            "({}: {})",
            stopped ? "stopped before it said anything" : "the model had nothing to say", then));
        return false;
    }
    if (reply.summary.reason == FinishReason::cancelled && input_.at_terminal())
        say("(stopped; what was said is kept)");
    tell_status(reply.summary);
    tell_left_out(n_left_out);
    const bool is_whole = reply.summary.reason != FinishReason::cancelled;
    greedy_ = is_whole && settings_.sampling.temperature == 0 ? what_decides() : "";
    return true;
}

// The messages up to the last one of the user's, and the settings but for the seed.
std::string ChatLoop::what_decides() {
    SavedChat chat = saved();
    while (!chat.messages.empty() && chat.messages.back().role == "assistant")
        chat.messages.pop_back();
    chat.settings->sampling.seed = 0;
    return to_json(chat);
}

Result<void> ChatLoop::show_text(const std::string& text) {
    if (!wraps_words_ || !is_terminal(STDOUT_FILENO)) return put(text + "\n");
    WordWrap words(columns_of(STDOUT_FILENO));
    std::string lines;
    words.push(text + "\n", lines);
    words.finish(lines);
    return put(lines);
}

void ChatLoop::tell_left_out(uint32_t n_before) {
    const uint32_t n_left_out = session().stats().n_left_out;
    if (n_left_out > n_before)
        note(broken(fmt::format(
                 "kvik: the context was full, the oldest {} left out of it now",
                 n_left_out == 1 ? "message is" : fmt::format("{} messages are", n_left_out))) +
             "\n");
}

void ChatLoop::tell(const Error& error) {
    if (!input_.at_terminal()) exit_code_ = static_cast<int>(error.kind);
    note(broken(std::string(trimmed(describe_error(error, ErrorFormat::text)))) + "\n");
    if (error.kind == ErrorKind::context) note(broken("kvik: " + ways_out()) + "\n");
}

// Of a context that is full.
std::string ChatLoop::ways_out() const {
    const bool can_grow = context() < engine_.model().context_length;
    const bool truncates = settings_.session.overflow == Overflow::truncate_oldest;
    return std::string("/undo takes the last exchange back, /reset starts over") +
           (truncates ? "" : ", /set overflow truncate leaves the oldest out") +
           (can_grow ? ", --ctx N makes more room" : "");
}

void ChatLoop::tell_status(const Summary& summary) const {
    const uint32_t n_tokens = summary.timings.n_prompt_tokens + summary.timings.n_generated_tokens;
    if (summary.reason == FinishReason::length && n_tokens >= context())
        note(broken(fmt::format("kvik: the context is full, {} of {} tokens: {}", n_tokens,
                                context(), ways_out())) +
             "\n");
    else if (summary.reason == FinishReason::length && input_.at_terminal())
        say(fmt::format("(cut after {}: /set n off lets it go on)",
                        counted(summary.timings.n_generated_tokens, "token")));
    if (is_verbose_)
        for (const std::string& line : timing_lines(engine_.load_ms(), summary.timings)) say(line);
    else if (input_.at_terminal() && is_terminal(STDERR_FILENO))
        say(status_line(summary.timings, context(), columns_of(STDERR_FILENO) - 1));
}

void ChatLoop::say(const std::string& line) const {
    note_line(line);
}

}  // namespace kvik::cli
