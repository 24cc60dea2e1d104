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

// The messages of the latest conversation with this model; settings are those of the flags.
Result<void> ChatLoop::resume() {
    const auto path = autosave_ ? autosave_->latest() : std::nullopt;
    if (!path) {
        say("there is no earlier conversation with this model: this is a new one");
        return {};
    }
    KVIK_TRY(const std::string json, read_small_file(*path, kMostChatBytes));
    KVIK_TRY(SavedChat chat, from_json(json, *path, settings_));
    const size_t n_messages = chat.messages.size();
    const std::string last = n_messages > 0 ? chat.messages.back().content : "";
    session().restore(std::move(chat.messages));
    autosave_->go_on_with(*path);
    say(fmt::format("going on after {}; /list shows them, /reset begins anew",
                    counted(n_messages, "message")));
    if (input_.at_terminal() && !last.empty()) return show_text(last);
    return {};
}

// Said once: a folder that cannot be written to is no reason to stop talking.
void ChatLoop::keep() {
    if (!autosave_ || session().messages().empty()) return;
    const auto done = autosave_->save(to_json(saved()));
    if (done) return;
    say(fmt::format("the conversation is not kept: {}", printable(done.error().message)));
    autosave_.reset();
}

}  // namespace kvik::cli
