// The commands of a chat that change something.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/chat_loop.h"
#include "cli/repl/command_line.h"
#include "cli/repl/habits.h"
#include "cli/suggest.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

bool is_users(const ChatMessage& message) {
    return message.role == "user";
}

// Where in `messages` the user's n-th stands, counted from 1; 0: the last one.
std::optional<size_t> find_message(const std::vector<ChatMessage>& messages, size_t n) {
    std::optional<size_t> last;
    for (size_t i = 0; i < messages.size(); ++i) {
        if (!is_users(messages[i])) continue;
        last = i;
        if (n > 0 && --n == 0) return i;
    }
    return n == 0 ? last : std::nullopt;
}

std::string as_quote(const std::string& text) {
    const std::string line = text.substr(0, text.find('\n'));
    return cut_to_columns(printable(line), std::max(columns_of(STDERR_FILENO), 30u) - 20);
}

}  // namespace

std::span<const ChatLoop::Command> ChatLoop::commands() {
    using L = ChatLoop;
    static constexpr Command kCommands[] = {
        {"/regen", "", "/regen", "another answer to the last message, from another seed",
         &L::regenerate},
        {"/answers", "", "/answers, /answer N", "all answers to the last message; pick the N-th",
         &L::show_answers},
        {"/answer", "N", "", "", &L::choose_answer},
        {"/continue", "", "/continue", "write on where the last answer was cut", &L::go_on},
        {"/undo", "[N]", "/undo [N], /redo [N]", "take back the last N turns; bring them back",
         &L::undo},
        {"/redo", "[N]", "", "", &L::redo},
        {"/edit", "[N] [TEXT]", "/edit [N] [TEXT]",
         "change the last message, or the N-th; what followed goes", &L::edit},
        {"/list", "", "/list", "the conversation, its messages numbered", &L::list},
        {"/read", "FILE", "/read FILE", "put a text file in front of the next message", &L::read},
        {"/fork", "[N] [NAME]", "/fork [N] [NAME]",
         "copy the conversation up to message N and talk on there", &L::fork},
        {"/branch", "[NAME]", "/branch [NAME]",
         "list the copies, or switch to one; - switches back", &L::branch},
        {"/reset", "", "/reset, /clear", "start over; the system message stays", &L::reset},
        {"/system", "[TEXT]", "/system [TEXT]",
         "show or change the system message; none removes it", &L::change_system},
        {"/set", "[NAME [VALUE]]", "/set [NAME [VALUE]]",
         "show or change settings: temp, top_k, n, stop, ...", &L::change_setting},
        {"/show", "WHAT", "/show WHAT", "info, parameters, system or template", &L::show_what},
        {"/save", "FILE", "/save FILE", "write messages and settings to a file", &L::save},
        {"/load", "FILE", "/load FILE", "read a file that /save wrote", &L::load},
        {"/stats", "", "/stats", "tokens and speed so far", &L::show_stats},
        {"/cache", "", "/cache, /why", "what the KV cache holds; what it had of the last prompt",
         &L::show_cache},
        {"/why", "", "", "", &L::show_why},
        {"/help", "", "", "", &L::show_help},
        {"/exit", "", "/exit, /bye, Ctrl-D", "leave", &L::leave},
    };
    return kCommands;
}

const ChatLoop::Command* ChatLoop::find_command(std::string_view name) {
    name = command_here(name);
    for (const Command& command : commands())
        if (command.name == name) return &command;
    return nullptr;
}

ChatLoop::Done ChatLoop::obey(std::string_view name, const std::string& rest) {
    if (const Command* command = find_command(name)) {
        const bool is_help = command->name == "/help";  // of Ollama's own goes on: /help set
        if (command->arguments.empty() && !rest.empty() && !is_help)
            return fail(ErrorKind::usage, fmt::format("{} takes nothing after it", name));
        return (this->*command->act)(rest);
    }
    if (const auto hint = hint_about_command(name))
        return fail(ErrorKind::usage, fmt::format("{}: {}", name, *hint));
    std::vector<std::string> names;
    for (const Command& command : commands()) names.emplace_back(command.name);
    const auto meant = nearest(name, names);
    return fail(
        ErrorKind::usage,
        fmt::format("{} is no command: {} (a message that begins with / is written with //)", name,
                    meant ? fmt::format("did you mean {}?", *meant) : "/help lists them"));
}

ChatLoop::Done ChatLoop::regenerate(const std::string&) {
    const uint64_t offset = talk_now().answers().size();
    if (!greedy_.empty() && greedy_ == what_decides()) {
        say("temp is 0, so the answer would be the same: /set temp 0.7 allows another one");
        return Next::go_on;
    }
    if (settings_.sampling.temperature > 0 && find_message(session().messages(), 0)) {
        say(fmt::format("seed {}", *settings_.sampling.seed + offset));
    }
    talk_now().before_another();
    seed_offset_ = offset;
    KVIK_TRY(const bool came,
             answer([&](GenerateRequest how) { return session().regenerate(std::move(how)); },
                    "the earlier answer stays"));
    if (!came) return Next::go_on;
    talk_now().another();
    if (input_.at_terminal() && talk_now().answers().size() == 2)
        say("(/answers shows all answers, /answer N goes back to one)");
    return Next::go_on;
}

// With the seed that the answer had, so that it is the one that it would have been.
ChatLoop::Done ChatLoop::go_on(const std::string&) {
    seed_offset_ = std::max<size_t>(talk_now().shown(), 1) - 1;
    KVIK_TRY(const bool came,
             answer([&](GenerateRequest how) { return session().resume(std::move(how)); },
                    "the answer stays as it was"));
    if (came) talk_now().went_on();
    return Next::go_on;
}

ChatLoop::Done ChatLoop::choose_answer(const std::string& rest) {
    if (rest.empty()) return fail(ErrorKind::usage, "/answer needs a number: see /answers");
    KVIK_TRY(const uint64_t n, parse_whole(rest, {1, UINT32_MAX}));
    KVIK_TRY_VOID(talk_now().show_answer(n));
    KVIK_TRY_VOID(show_text(session().messages().back().content));
    return Next::go_on;
}

// Calls `step`, which gives the message of the turn that it moved, n times or as often as it can.
ChatLoop::Done ChatLoop::repeat(uint64_t n, std::string_view what,
                                const std::function<Result<std::string>()>& step) {
    uint64_t n_done = 0;
    std::string last;
    for (; n_done < n; ++n_done) {
        auto text = step();
        if (!text && n_done == 0) return tl::unexpected(text.error());
        if (!text) break;
        last = std::move(*text);
    }
    const std::string count = n_done < n
                                  ? fmt::format("{} of {} turns, there are no more", n_done, n)
                                  : counted(n_done, "turn");
    say(fmt::format("{} {}{}: {}", what, count, n_done > 1 ? "; the last one" : "",
                    as_quote(last)));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::undo(const std::string& rest) {
    uint64_t n = 1;
    if (!rest.empty()) {
        KVIK_TRY(n, parse_whole(rest, {1, UINT32_MAX}));
    }
    return repeat(n, "took back", [this] { return talk_now().take_back(); });
}

ChatLoop::Done ChatLoop::redo(const std::string& rest) {
    uint64_t n = 1;
    if (!rest.empty()) {
        KVIK_TRY(n, parse_whole(rest, {1, UINT32_MAX}));
    }
    return repeat(n, "brought back", [this] { return talk_now().bring_back(); });
}

ChatLoop::Done ChatLoop::edit(const std::string& rest) {
    const NumberedText asked = split_number(rest);
    const auto& messages = session().messages();
    if (asked.number == 0u)
        return fail(ErrorKind::usage, "messages are numbered from 1: see /list");
    const auto index = find_message(messages, asked.number.value_or(0));
    if (!index)
        return fail(ErrorKind::usage,
                    asked.number ? fmt::format("there is no message {}: see /list", *asked.number)
                                 : "there is no message to change yet");
    if (!asked.text.empty()) {
        const std::string text(asked.text);
        KVIK_TRY(const bool came, answer_to(text, *index, [&](GenerateRequest how) {
                     return session().edit(*index, text, std::move(how));
                 }));
        if (came) talk_now().sent();
        return Next::go_on;
    }
    if (!input_.can_edit())
        return fail(ErrorKind::usage, "there is no line editor here: /edit N TEXT says it all");
    editing_ = *index;
    to_edit_ = Asked{"edit> ", messages[*index].content};
    return Next::go_on;
}

ChatLoop::Done ChatLoop::fork(const std::string& rest) {
    const NumberedText asked = split_number(rest);
    size_t n_messages = SIZE_MAX;
    if (asked.number) {
        const auto& messages = session().messages();
        if (*asked.number == 0 || !find_message(messages, *asked.number))
            return fail(ErrorKind::usage,
                        fmt::format("there is no message {}: see /list", *asked.number));
        n_messages = find_message(messages, size_t{*asked.number} + 1).value_or(messages.size());
    }
    KVIK_TRY_VOID(branches_.fork(asked.text, n_messages));
    say(fmt::format("on {} now; /branch - goes back", branches_.current().name));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::branch(const std::string& rest) {
    if (rest.empty()) {
        show_branches();
        return Next::go_on;
    }
    KVIK_TRY_VOID(branches_.go(rest));
    const auto& messages = session().messages();
    say(fmt::format("on {} now, {}", branches_.current().name,
                    counted(messages.size(), "message")));
    if (const auto last = find_message(messages, 0))
        say(fmt::format("last: {}", as_quote(messages[*last].content)));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::change_system(const std::string& rest) {
    const auto& messages = session().messages();
    const bool has_one = !messages.empty() && messages.front().role == "system";
    if (rest.empty()) {
        note(has_one ? printable_lines(messages.front().content) + "\n" : "no system message\n");
        return Next::go_on;
    }
    session().set_system(rest == "none" ? "" : rest);
    say(rest == "none" ? "no system message from the next turn on"
                       : "the system message holds from the next turn on");
    return Next::go_on;
}

ChatLoop::Done ChatLoop::change_setting(const std::string& rest) {
    if (rest.empty()) {
        show_settings();
        return Next::go_on;
    }
    const size_t end = std::min(rest.find_first_of(" \t="), rest.size());
    const std::string name = rest.substr(0, end);
    const std::string_view after = trimmed(std::string_view(rest).substr(end));
    // As Ollama has them: /set parameter temperature 1, /set system TEXT, /set nowordwrap.
    if (name == "parameter") return change_setting(std::string(after));
    if (name == "system") return change_system(std::string(after));
    if (name == "wordwrap" || name == "nowordwrap") {
        wraps_words_ = name == "wordwrap";
        say(wraps_words_ ? "lines end between words" : "lines end where the terminal ends");
        return Next::go_on;
    }
    if (const auto hint = hint_about_setting(name))
        return fail(ErrorKind::usage, fmt::format("{}: {}", name, *hint));
    KVIK_TRY(const Setting setting, find_setting(name));
    std::string_view value = trimmed(std::string_view(rest).substr(end));
    if (value.starts_with('=')) value = trimmed(value.substr(1));
    if (!value.empty()) KVIK_TRY_VOID(set(settings_, name, value));
    note(printable(fmt::format("{} {}", setting.name, setting.describe(settings_))) + "\n");
    return Next::go_on;
}

ChatLoop::Done ChatLoop::reset(const std::string&) {
    KVIK_TRY_VOID(session().reset_topic());
    talk_now().replaced();
    if (autosave_) autosave_->begin_another();
    say(session().messages().empty() ? "forgotten" : "forgotten; the system message stays");
    return Next::go_on;
}

ChatLoop::Done ChatLoop::leave(const std::string&) {
    return Next::leave;
}

Completion ChatLoop::complete(std::string_view line) {
    const size_t blank = line.find(' ');
    std::vector<std::string> words;
    if (blank == std::string_view::npos) {
        for (const Command& command : commands()) words.emplace_back(command.name);
        return complete_word(line, words);
    }
    const std::string_view name = command_here(line.substr(0, blank));
    std::string_view rest = trimmed(line.substr(blank));
    if (name == "/save" || name == "/load" || name == "/read")
        return complete_path(rest, environment_("HOME").value_or("~"));
    if (name == "/branch")
        for (const Branch& branch : branches_.all()) words.push_back(branch.name);
    if (name == "/show") words = {"info", "parameters", "system", "template"};
    if (name == "/set") {
        constexpr std::string_view kParameter = "parameter ";
        if (rest.starts_with(kParameter)) rest = trimmed(rest.substr(kParameter.size()));
        for (const Setting& setting : all_settings()) words.emplace_back(setting.name);
        for (const char* word : {"nowordwrap", "system", "wordwrap"}) words.emplace_back(word);
    }
    return complete_word(rest, words);
}

}  // namespace kvik::cli
