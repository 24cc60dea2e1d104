// PromptWriter: a conversation -> the ids of its next prompt, in which every answer stands with the
// ids that were sampled.
//
// Shape   the template's text is cut where the answers belong; what lies between is tokenised, so a
//         longer conversation begins with the ids of the shorter one. Without a chat template (or
//         tokenizer of control tokens) turns are raw text: "Question: ... Answer:".
// Owner   borrows the engine.
// Errors  no tokenizer, or a template that hides answers: unsupported.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kvik/kvik.h"

namespace kvik::lab {

struct Exchange {
    std::string said;
    std::vector<TokenId> answer = {};  // not yet, in the last one
};

class PromptWriter {
  public:
    static Result<PromptWriter> open(const Engine& engine, std::string_view system);

    // The last exchange waits for its answer.
    Result<std::vector<TokenId>> ids(std::span<const Exchange> conversation) const;
    bool is_raw() const { return engine_->chat_template() == nullptr; }

  private:
    PromptWriter(const Engine& engine, std::string_view system)
        : engine_(&engine), system_(system) {}
    // Roles that a template may refuse.
    enum class SystemRole : uint8_t { own_message, first_words };

    Result<MarkedText> rendered(std::span<const Exchange> conversation) const;
    MarkedText raw(std::span<const Exchange> conversation) const;

    const Engine* engine_;
    std::string system_;
    SystemRole system_role_ = SystemRole::own_message;
};

}  // namespace kvik::lab
