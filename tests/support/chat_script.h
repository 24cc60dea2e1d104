// Talk: random traffic of an engine's clients: new conversations, next turns, the same prompt
// again, branches, answers anew and edits, so that prompts meet what is cached in every way.
//
// Use     next() returns a prompt; heard() takes its answer. What next() returns does not depend on
//         what an engine has cached, so that two engines can be asked the same.
// Invariant no prompt is longer than most_tokens; none is empty.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "support/requests.h"

namespace kvik {

enum class AskKind : uint8_t { cold, turn, again, forked, rewound, edited };
inline constexpr std::array<std::string_view, 6> kAskKinds = {"cold",   "turn",    "again",
                                                              "forked", "rewound", "edited"};

struct Ask {
    AskKind kind = AskKind::cold;
    uint32_t conversation = 0;
    std::vector<TokenId> prompt;
    // Of the prompt, what was computed and published before if all went well.
    uint32_t n_known = 0;
};

struct TalkOptions {
    uint32_t vocab_size = 101;
    uint32_t most_tokens = 150;
    uint32_t most_said = 25;
    uint32_t n_conversations = 8;
    uint32_t n_stems = 3;  // openings that conversations have in common
};

class Talk {
  public:
    Talk(const TalkOptions& options, uint32_t seed)
        : options_(options), random_(seed), conversations_(options.n_conversations) {
        for (uint32_t i = 0; i < options.n_stems; ++i)
            stems_.push_back(said(options.most_tokens / 4));
    }

    Ask next() {
        const uint32_t which = random_.below(options_.n_conversations);
        Conversation& c = conversations_[which];
        Ask ask;
        ask.conversation = which;
        ask.kind = c.tokens.empty() ? AskKind::cold : static_cast<AskKind>(random_.below(6));
        if (ask.kind == AskKind::turn && c.tokens.size() >= options_.most_tokens)
            ask.kind = AskKind::cold;
        switch (ask.kind) {
            case AskKind::cold:
                c = {};
                if (random_.below(3) > 0) ask.prompt = stems_[random_.below(options_.n_stems)];
                append(ask.prompt);
                break;
            case AskKind::turn:
                ask.prompt = c.tokens;
                append(ask.prompt);
                ask.n_known = std::min(c.n_published, static_cast<uint32_t>(c.tokens.size()));
                break;
            case AskKind::again:
                keep(ask, c, c.ends.back());
                break;
            case AskKind::forked:
                keep(ask, c, 1 + random_.below(static_cast<uint32_t>(c.tokens.size())));
                append(ask.prompt);
                break;
            case AskKind::rewound:
                keep(ask, c, c.ends[random_.below(static_cast<uint32_t>(c.ends.size()))]);
                break;
            case AskKind::edited: {
                keep(ask, c, static_cast<uint32_t>(c.tokens.size()));
                const auto at = random_.below(static_cast<uint32_t>(ask.prompt.size()));
                ask.prompt[at] = static_cast<TokenId>((static_cast<uint32_t>(ask.prompt[at]) + 1) %
                                                      options_.vocab_size);
                ask.n_known = std::min(ask.n_known, at);
                break;
            }
        }
        if (ask.prompt.size() > options_.most_tokens) ask.prompt.resize(options_.most_tokens);
        ask.n_known = std::min(ask.n_known, static_cast<uint32_t>(ask.prompt.size()));
        return ask;
    }

    // n_published: of prompt and answer, what the engine had computed and was to publish.
    void heard(const Ask& ask, std::span<const TokenId> answer, uint32_t n_published) {
        Conversation& c = conversations_[ask.conversation];
        const auto n_prompt = static_cast<uint32_t>(ask.prompt.size());
        std::erase_if(c.ends, [&](uint32_t end) { return end >= n_prompt; });
        c.ends.push_back(n_prompt);
        c.tokens = ask.prompt;
        c.tokens.insert(c.tokens.end(), answer.begin(), answer.end());
        c.n_published = n_published;
    }

    Random& random() { return random_; }

  private:
    struct Conversation {
        std::vector<TokenId> tokens;
        std::vector<uint32_t> ends;  // of prompts: where an answer began
        uint32_t n_published = 0;
    };

    std::vector<TokenId> said(uint32_t most) {
        return random_tokens(random_, 1 + random_.below(most), options_.vocab_size);
    }
    void append(std::vector<TokenId>& prompt) {
        const std::vector<TokenId> more = said(options_.most_said);
        prompt.insert(prompt.end(), more.begin(), more.end());
    }
    static void keep(Ask& ask, const Conversation& c, uint32_t n) {
        ask.prompt = {c.tokens.begin(), c.tokens.begin() + n};
        ask.n_known = std::min(n, c.n_published);
    }

    TalkOptions options_;
    Random random_;
    std::vector<std::vector<TokenId>> stems_;
    std::vector<Conversation> conversations_;
};

}  // namespace kvik
