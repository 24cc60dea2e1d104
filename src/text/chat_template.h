// ChatTemplate: messages -> prompt text, by the model's own Jinja template, with input marking.
//
// Owner   the compiled template.   Threads  const from any thread.
// Cost    bounded: 256 KiB of source, 1e6 steps, 16 MiB of output, nesting 128.
// Errors  a template that does not parse names line and column; raise_exception's text is kept.
// Invariant bytes that come from message contents are untrusted wherever they end up; the
//         template's own text is trusted, and a role that is a plain word.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

// A variable or field whose value is JSON text from outside: all strings in it are untrusted.
struct TemplateField {
    std::string name;
    std::string json;
};

struct ChatMessage {
    std::string role;
    std::string content;
    // What else the message has: tool_calls, reasoning_content, name, ... A field of the name
    // "content" takes the place of `content` (null, or a list of parts). As transformers 5.24 has
    // it, a field that is null counts as not there, and one of reasoning_content, thinking and
    // reasoning is seen as reasoning_content and as thinking.
    std::vector<TemplateField> fields = {};
};

struct TemplateInputs {
    std::vector<ChatMessage> messages = {};
    bool add_generation_prompt = true;
    std::string bos_token = {};
    std::string eos_token = {};
    // More variables: tools, enable_thinking, ... `tools` and `documents` are none when not given.
    std::vector<TemplateField> variables = {};
    // The caller's wall clock, for strftime_now; a template that asks finds none without it.
    std::optional<std::chrono::local_seconds> now = {};
};

class ChatTemplate {
  public:
    static Result<ChatTemplate> compile(std::string source);
    ChatTemplate(ChatTemplate&&) noexcept;
    ChatTemplate& operator=(ChatTemplate&&) noexcept;
    ~ChatTemplate();

    const std::string& source() const;
    // ErrorKind::usage: the template refuses the messages (raise_exception).
    Result<MarkedText> render(const TemplateInputs& inputs) const;

  private:
    struct Program;
    explicit ChatTemplate(std::unique_ptr<Program> program);
    std::unique_ptr<Program> program_;
};

}  // namespace kvik
