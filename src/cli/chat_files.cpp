// The commands of a chat that read and write files, and the conversation that is kept between chats.
#include <fmt/format.h>

#include "cli/chat_loop.h"
#include "cli/repl/atomic_file.h"
#include "cli/terminal.h"
#include "text/utf8.h"

namespace kvik::cli {
namespace {

constexpr size_t kMostReadBytes = 16u << 20;

}  // namespace

std::string ChatLoop::expanded(const std::string& path) const {
    if (!path.starts_with("~/")) return path;
    return environment_("HOME").value_or("~") + path.substr(1);
}

SavedChat ChatLoop::saved() {
    return {.model = engine_.model().name, .messages = session().messages(), .settings = settings_};
}

ChatLoop::Done ChatLoop::save(const std::string& rest) {
    if (rest.empty()) return fail(ErrorKind::usage, "/save needs the name of a file");
    const SavedChat chat = saved();
    KVIK_TRY_VOID(replace_file(expanded(rest), to_json(chat)));
    say(fmt::format("saved {} to {}", counted(chat.messages.size(), "message"), printable(rest)));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::load(const std::string& rest) {
    // Ollama's /load takes the name of a model too.
    constexpr std::string_view kAdvice =
        "/load FILE reads what /save FILE wrote; another model is another chat: kvik chat MODEL";
    if (rest.empty())
        return fail(ErrorKind::usage, fmt::format("/load needs the name of a file: {}", kAdvice));
    const auto json = read_small_file(expanded(rest), kMostChatBytes);
    if (!json) return fail(json.error().kind, fmt::format("{}: {}", json.error().message, kAdvice));
    KVIK_TRY(SavedChat chat, from_json(*json, rest, settings_));
    if (chat.settings) settings_ = std::move(*chat.settings);
    const size_t n_messages = chat.messages.size();
    session().restore(std::move(chat.messages));
    talk_now().replaced();
    if (autosave_) autosave_->begin_another();
    say(fmt::format("loaded {} from {}; /list shows them", counted(n_messages, "message"),
                    printable(rest)));
    if (!chat.model.empty() && chat.model != engine_.model().name)
        say(fmt::format("another model said this: {}", printable(chat.model)));
    return Next::go_on;
}

ChatLoop::Done ChatLoop::read(const std::string& rest) {
    if (rest.empty()) return fail(ErrorKind::usage, "/read needs the name of a file");
    KVIK_TRY(const std::string text, read_small_file(expanded(rest), kMostReadBytes));
    if (utf8_valid_prefix(text) != text.size())
        return fail(ErrorKind::file, fmt::format("{} is not text in UTF-8", rest));
    to_send_ += text + (text.ends_with('\n') ? "\n" : "\n\n");
    say(fmt::format("{} of {} will stand before your next message", counted(text.size(), "byte"),
                    printable(rest)));
    return Next::go_on;
}

// The latest conversation with this model, as it was left: messages, system message and settings.
// Nothing: there is none.
Result<std::optional<ChatLoop::Resumed>> ChatLoop::resume() {
    const auto path = autosave_ ? autosave_->latest() : std::nullopt;
    if (!path) return std::nullopt;
    KVIK_TRY(const std::string json, read_small_file(*path, kMostChatBytes));
    KVIK_TRY(SavedChat chat, from_json(json, *path, settings_));
    if (chat.settings) {
        settings_ = std::move(*chat.settings);
        system_.reset();
        if (overrule_) KVIK_TRY_VOID(overrule_(settings_, system_));
    }
    Resumed resumed;
    // Asked when the program was ended: it is asked again, or changed, at the prompt.
    if (!chat.messages.empty() && chat.messages.back().role == "user") {
        resumed.unanswered = std::move(chat.messages.back().content);
        chat.messages.pop_back();
    }
    resumed.n_messages = chat.messages.size();
    if (resumed.n_messages > 0) resumed.last = chat.messages.back().content;
    session().restore(std::move(chat.messages));
    autosave_->go_on_with(*path);
    return resumed;
}

Result<void> ChatLoop::tell_resumed(const std::optional<Resumed>& resumed) {
    if (!resumed) {
        say("there is no earlier conversation with this model: this is a new one");
        return {};
    }
    say(fmt::format("going on after {}; /list shows them, /reset begins anew",
                    counted(resumed->n_messages, "message")));
    if (input_.at_terminal() && !resumed->last.empty()) KVIK_TRY_VOID(show_text(resumed->last));
    const std::string& question = resumed->unanswered;
    if (question.empty()) return {};
    if (input_.can_edit() && !first_message_) {
        say("your last message has no answer yet: Enter sends it again");
        to_edit_ = Asked{">>> ", question.starts_with('/') ? "/" + question : question};
    } else {
        say(fmt::format("your last message had no answer and is left out: {}",
                        cut_to_columns(printable(question), 200)));
    }
    return {};
}

// Said once: a folder that cannot be written to is no reason to stop talking.
void ChatLoop::keep(const SavedChat& chat) {
    if (!autosave_ || chat.messages.empty()) return;
    const auto done = autosave_->save(to_json(chat));
    if (done) return;
    say(fmt::format("the conversation is not kept: {}", printable(done.error().message)));
    autosave_.reset();
}

void ChatLoop::keep() {
    const bool is_cut_off =
        interrupts_.ended_by() != 0 && session().messages().size() < asked_.size();
    if (!is_cut_off) keep(saved());
}

}  // namespace kvik::cli
