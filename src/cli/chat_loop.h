// ChatLoop: the conversation of `kvik chat`, line by line, over a Session.
//
// Owner   borrows the engine and the interrupts.
// Errors  of one answer (a full context, say) are told and the chat goes on; without a terminal
//         the last one is the exit code in the end. A reader that went away ends it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/options.h"
#include "cli/reply.h"

namespace kvik::cli {

struct ChatOptions {
    std::optional<std::string> system;
    AnswerOptions answer;
    SamplingParams sampling;
};

class ChatLoop {
  public:
    ChatLoop(Engine& engine, ChatOptions options, Interrupts& interrupts);

    Result<int> talk();  // until it ends; an exit code

  private:
    enum class Next : uint8_t { go_on, leave };
    struct Command;
    static std::span<const Command> commands();

    void greet() const;
    Next obey(std::string_view line);
    Next clear();
    Next show_stats();
    Next show_help();
    Next leave();

    Result<void> answer(const std::string& line);
    Result<Reply> ask(const std::string& line);
    void tell(const Error& error);
    void tell_status(const Summary& summary) const;

    Engine& engine_;
    ChatOptions options_;
    Interrupts& interrupts_;
    bool interactive_;
    Session session_;
    uint32_t n_context_ = 0;  // tokens of the conversation after the last answer
    uint64_t n_prompt_ = 0, n_cached_ = 0, n_decoded_ = 0;  // of all answers
    int exit_code_ = 0;
};

}  // namespace kvik::cli
