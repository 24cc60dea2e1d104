// ChatTemplate: messages -> prompt text, by the model's own Jinja template, with input marking.
//
// Owner   the compiled template.   Threads  const from any thread.
// Cost    bounded: 256 KiB of source, 1e6 steps, 16 MiB of output, nesting 128.
// Errors  a template that does not parse names line and column; raise_exception's text is kept.
// Invariant bytes that come from message contents are untrusted wherever they end up; the
//         template's own text and the roles are trusted.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

struct ChatMessage {
    std::string role;
    std::string content;
};

struct TemplateInputs {
    std::vector<ChatMessage> messages;
    bool add_generation_prompt = true;
    std::string bos_token;
    std::string eos_token;
};

class ChatTemplate {
  public:
    static Result<ChatTemplate> compile(std::string source);
    ChatTemplate(ChatTemplate&&) noexcept;
    ChatTemplate& operator=(ChatTemplate&&) noexcept;
    ~ChatTemplate();

    const std::string& source() const;
    Result<MarkedText> render(const TemplateInputs& inputs) const;

  private:
    struct Program;
    explicit ChatTemplate(std::unique_ptr<Program> program);
    std::unique_ptr<Program> program_;
};

}  // namespace kvik
