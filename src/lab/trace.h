// Traces: requests as a server would see them, made from a seed. Made up, not recorded: their
// lengths, pauses and shared parts are written in trace.cpp, where they can be changed.
//
// Shape   chat: conversations with pauses in which people think, each with a call for a title and
//         calls for summaries beside it. agents: loops of tool calls after long instructions that
//         all tasks share. retrieval: questions after documents, some asked for often, in different
//         order.
// Cost    some hundred requests and a million tokens of prompts each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"

namespace kvik::lab {

struct TraceRequest {
    double at_ms = 0;
    std::vector<TokenId> prompt;
    std::vector<TokenId> answer;  // at least one token
};

struct Trace {
    std::string name;
    std::string description;
    std::vector<TraceRequest> requests;  // in the order of time
};

Trace chat_trace(uint64_t seed);
Trace agent_trace(uint64_t seed);
Trace retrieval_trace(uint64_t seed);
std::vector<Trace> all_traces(uint64_t seed);

struct TraceFacts {
    uint32_t n_requests = 0;
    uint64_t n_prompt_tokens = 0;
    uint32_t longest = 0;  // tokens of a prompt and its answer
};
TraceFacts facts_of(const Trace& trace);

}  // namespace kvik::lab
