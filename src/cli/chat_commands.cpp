// The commands of a chat that change something.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/chat_loop.h"
#include "cli/repl/atomic_file.h"
#include "cli/repl/command_line.h"
#include "cli/repl/saved_chat.h"
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
        {"/regen", "", "another answer to the last message, from another seed", &L::regenerate},
        {"/undo", "[N]", "take the last exchange back, or the last N", &L::undo},
        {"/edit", "[N] [TEXT]", "change the last message, or the N-th, and drop what follows",
         &L::edit},
        {"/list", "", "the conversation, its messages numbered", &L::list},
        {"/fork", "[N] [NAME]", "go on in a copy of the conversation, as it was after message N",
         &L::fork},
        {"/branch", "[NAME]", "go to another copy; - goes back; alone it lists them", &L::branch},
        {"/system", "[TEXT]", "show or change the system message; none removes it",
         &L::change_system},
        {"/set", "[NAME [VALUE]]", "show or change how answers are picked", &L::change_setting},
        {"/save", "FILE", "write messages and settings to a file", &L::save},
        {"/load", "FILE", "read them back", &L::load},
        {"/stats", "", "tokens and speed so far", &L::show_stats},
        {"/cache", "", "what the KV cache holds, drawn as the tree it is", &L::show_cache},
        {"/why", "", "what of the last prompt was computed, and why", &L::show_why},
        {"/reset", "", "another topic: forget the conversation, keep the system message",
         &L::reset},
        {"/help", "", "this list", &L::show_help},
        {"/exit", "", "leave, as Ctrl-D does", &L::leave},
    };
    return kCommands;
}

const ChatLoop::Command* ChatLoop::find_command(std::string_view name) {
    if (name == "/quit" || name == "/bye") name = "/exit";
    if (name == "/clear") name = "/reset";
    for (const Command& command : commands())
        if (command.name == name) return &command;
    return nullptr;
}

ChatLoop::Done ChatLoop::obey(std::string_view name, const std::string& rest) {
    if (const Command* command = find_command(name)) {
        if (command->arguments.empty() && !rest.empty())
            return fail(ErrorKind::usage, fmt::format("{} takes nothing after it", name));
        return (this->*command->act)(rest);
    }
    std::vector<std::string> names;
    for (const Command& command : commands()) names.emplace_back(command.name);
    const auto meant = nearest(name, names);
    return fail(
        ErrorKind::usage,
        fmt::format("{} is no command: {} (a message that begins with / is written with //)", name,
                    meant ? fmt::format("did you mean {}?", *meant) : "/help lists them"));
}

ChatLoop::Done ChatLoop::regenerate(const std::string&) {
    ++n_regenerated_;
    if (settings_.sampling.temperature == 0) {
        say("temp is 0, another seed changes nothing: /set temp 0.7 for another answer");
    } else if (find_message(session().messages(), 0)) {
        say(fmt::format("seed {}", settings_.sampling.seed + n_regenerated_));
    }
    KVIK_TRY_VOID(
        answer([&](GenerateRequest how) { return session().regenerate(std::move(how)); }));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::undo(const std::string& rest) {
    uint64_t n = 1;
    if (!rest.empty()) {
        KVIK_TRY(n, parse_whole(rest, {1, UINT32_MAX}));
    }
    for (uint64_t i = 0; i < n; ++i) {
        const auto& messages = session().messages();
        const auto last = find_message(messages, 0);
        if (!last && i == 0) return fail(ErrorKind::usage, "there is nothing to take back");
        if (!last) break;
        say(fmt::format("took back: {}", as_quote(messages[*last].content)));
        session().rewind(*last);
    }
    n_regenerated_ = 0;
    return Next::go_on;
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
        n_regenerated_ = 0;
        KVIK_TRY_VOID(answer([&](GenerateRequest how) {
            return session().edit(*index, std::string(asked.text), std::move(how));
        }));
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
    n_regenerated_ = 0;
    say(fmt::format("on {} now; /branch - goes back", branches_.current().name));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::branch(const std::string& rest) {
    if (rest.empty()) {
        show_branches();
        return Next::go_on;
    }
    KVIK_TRY_VOID(branches_.go(rest));
    n_regenerated_ = 0;
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
    KVIK_TRY(const Setting setting, find_setting(name));
    std::string_view value = trimmed(std::string_view(rest).substr(end));
    if (value.starts_with('=')) value = trimmed(value.substr(1));
    if (!value.empty()) KVIK_TRY_VOID(set(settings_, name, value));
    if (setting.name == "seed") n_regenerated_ = 0;
    note(printable(fmt::format("{} {}", setting.name, setting.describe(settings_))) + "\n");
    return Next::go_on;
}

std::string ChatLoop::expanded(const std::string& path) const {
    if (!path.starts_with("~/")) return path;
    return environment_("HOME").value_or("~") + path.substr(1);
}

ChatLoop::Done ChatLoop::save(const std::string& rest) {
    if (rest.empty()) return fail(ErrorKind::usage, "/save needs the name of a file");
    const SavedChat chat{
        .model = engine_.model().name, .messages = session().messages(), .settings = settings_};
    KVIK_TRY_VOID(replace_file(expanded(rest), to_json(chat)));
    say(fmt::format("saved {} to {}", counted(chat.messages.size(), "message"), printable(rest)));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::load(const std::string& rest) {
    if (rest.empty()) return fail(ErrorKind::usage, "/load needs the name of a file");
    KVIK_TRY(const std::string json, read_small_file(expanded(rest), kMostChatBytes));
    KVIK_TRY(SavedChat chat, from_json(json, rest, settings_));
    if (chat.settings) settings_ = std::move(*chat.settings);
    n_regenerated_ = 0;
    const size_t n_messages = chat.messages.size();
    session().restore(std::move(chat.messages));
    say(fmt::format("loaded {} from {}; /list shows them", counted(n_messages, "message"),
                    printable(rest)));
    if (!chat.model.empty() && chat.model != engine_.model().name)
        say(fmt::format("another model said this: {}", printable(chat.model)));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::reset(const std::string&) {
    KVIK_TRY_VOID(session().reset_topic());
    n_regenerated_ = 0;
    say(session().messages().empty() ? "forgotten" : "forgotten; the system message stays");
    return Next::go_on;
}

ChatLoop::Done ChatLoop::leave(const std::string&) {
    return Next::leave;
}

}  // namespace kvik::cli
