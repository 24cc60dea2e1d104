// ChatLoop: the conversation of `kvik chat`, message by message and command by command.
//
// Shape   chat_loop.cpp reads, sends and shows; chat_commands.cpp has the table of commands;
//         chat_reports.cpp the commands that only show something, chat_files.cpp those that read
//         and write files.
// Owner   borrows the engine and the interrupts.
// Errors  of one answer or command (a full context, say) are told and the chat goes on; without a
//         terminal the last one is the exit code in the end. A reader that went away ends it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/repl/autosave.h"
#include "cli/repl/branches.h"
#include "cli/repl/chat_input.h"
#include "cli/repl/chat_settings.h"
#include "cli/repl/message_assembly.h"
#include "cli/repl/saved_chat.h"
#include "cli/reply.h"

namespace kvik::cli {

struct ChatOptions {
    std::string
        model_path;  // by which conversations are kept, with model_name if that is not empty
    std::string model_name;
    // Of a conversation that is gone on with: what the flags and variables of this call say goes
    // over its settings, and into `system` where they say one.
    std::function<Result<void>(ChatSettings& saved, std::optional<std::string>& system)> overrule;
    std::optional<std::string> system;
    std::optional<std::string> first_message;  // sent before any is asked for
    bool resume = false;                       // go on with the conversation that was saved last
    bool no_autosave = false;  // else kept at a terminal, and wherever one is gone on with
    bool no_wrap = false;      // of answers at a terminal
    bool verbose = false;      // the timings of each answer
    ChatSettings settings;
    Environment environment;
};

class ChatLoop {
  public:
    ChatLoop(Engine& engine, ChatOptions options, Interrupts& interrupts);

    Result<int> talk();  // until it ends; an exit code

  private:
    enum class Next : uint8_t { go_on, leave };
    using Done = Result<Next>;
    struct Command {
        std::string_view name, arguments;
        std::string_view shown, help;  // a line of /help; empty: the line before speaks of it too
        Done (ChatLoop::*act)(const std::string& rest);
    };
    using Ask = std::function<Result<Stream>(GenerateRequest)>;

    // chat_loop.cpp
    void greet();
    Done take(const Typed& typed);
    Done take_and_tell(const Typed& typed);  // an error that does not end the chat is told
    std::optional<int> interrupted(bool had_text);
    // False: none came, and the conversation is what it was; `then` says what that means.
    Result<bool> answer(const Ask& ask, std::string_view then = "the message is dropped");
    Result<bool> answer_to(const std::string& message, size_t index, const Ask& ask);
    Result<void> show_text(const std::string& text);  // of an answer, as it was shown
    void tell(const Error& error);
    void tell_status(const Summary& summary) const;
    void tell_left_out(uint32_t n_before);
    std::string ways_out() const;
    void say(const std::string& line) const;  // dim, on a terminal or not
    std::string what_decides();               // the answer to the last message at temp 0
    // chat_commands.cpp
    static std::span<const Command> commands();
    static const Command* find_command(std::string_view name);
    Done obey(std::string_view name, const std::string& rest);
    Done repeat(uint64_t n, std::string_view what,
                const std::function<Result<std::string>()>& step);
    Done regenerate(const std::string& rest);
    Done go_on(const std::string& rest);
    Done undo(const std::string& rest);
    Done redo(const std::string& rest);
    Done choose_answer(const std::string& rest);
    Done edit(const std::string& rest);
    Done fork(const std::string& rest);
    Done branch(const std::string& rest);
    Done change_system(const std::string& rest);
    Done change_setting(const std::string& rest);
    Done reset(const std::string& rest);
    Done leave(const std::string& rest);
    Completion complete(std::string_view line);
    // chat_files.cpp
    Done save(const std::string& rest);
    Done load(const std::string& rest);
    Done read(const std::string& rest);
    struct Resumed {
        size_t n_messages = 0;
        std::string last;        // message
        std::string unanswered;  // of the user's, which came after it
    };
    Result<std::optional<Resumed>> resume();
    Result<void> tell_resumed(const std::optional<Resumed>& resumed);
    void keep();  // the conversation, if it is one to be kept
    void keep(const SavedChat& chat);
    SavedChat saved();
    std::string expanded(const std::string& path) const;
    // chat_reports.cpp
    Done list(const std::string& rest);
    Done show_stats(const std::string& rest);
    Done show_cache(const std::string& rest);
    Done show_why(const std::string& rest);
    Done show_help(const std::string& rest);
    Done show_answers(const std::string& rest);
    Done show_what(const std::string& rest);
    void show_info() const;
    void show_branches();
    void show_settings() const;

    Conversation& talk_now() { return branches_.talk(); }
    Session& session() { return branches_.session(); }
    uint32_t context() const { return engine_.used().context; }

    Engine& engine_;
    Environment environment_;
    ChatSettings settings_;
    std::optional<std::string> first_message_;
    Interrupts& interrupts_;
    ChatInput input_;
    Branches branches_;
    std::optional<Asked> to_edit_;   // the next message comes out of this
    std::optional<size_t> editing_;  // and takes the place of that one
    bool hinted_ = false;            // how to leave, and nothing was typed since
    uint64_t seed_offset_ = 0;       // of the answer that is asked for: another one, another seed
    std::string greedy_;             // what_decides() of the last answer at temp 0; empty: none
    std::string to_send_;            // files that were read, for the next message
    std::optional<Autosave> autosave_;
    bool wraps_words_, is_verbose_, resumes_;
    std::optional<std::string> system_;  // as the flag says
    decltype(ChatOptions::overrule) overrule_;
    std::vector<ChatMessage> asked_;  // the conversation with the message that is being answered
    std::optional<KvReport> last_report_;
    uint64_t n_prompt_ = 0, n_cached_ = 0, n_decoded_ = 0;  // of all answers
    int exit_code_ = 0;
};

}  // namespace kvik::cli
