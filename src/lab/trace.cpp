#include "lab/trace.h"

#include <algorithm>

#include "lab/dice.h"

namespace kvik::lab {
namespace {

using Tokens = std::vector<TokenId>;

void append(Tokens& to, const Tokens& more) {
    to.insert(to.end(), more.begin(), more.end());
}

Tokens joined(Tokens first, const Tokens& second) {
    append(first, second);
    return first;
}

Trace in_order(Trace trace) {
    std::stable_sort(
        trace.requests.begin(), trace.requests.end(),
        [](const TraceRequest& a, const TraceRequest& b) { return a.at_ms < b.at_ms; });
    return trace;
}

// ---- chat ----

constexpr uint32_t kConversations = 90;
constexpr double kChatMs = 90 * 60e3, kThinkMs = 60e3, kLunchMs = 30 * 60e3, kTokenMs = 20;
constexpr double kSideCallMs = 500;

struct ChatTexts {
    std::vector<Tokens> system;
    Tokens title, summary;  // what the calls beside a conversation begin with
};

void add_conversation(Trace& trace, const ChatTexts& texts, Dice& dice) {
    double now_ms = dice.fraction() * kChatMs;
    const uint32_t n_turns = dice.between(2, 14);
    Tokens prompt = texts.system[std::min(dice.below(4), dice.below(3))];
    const size_t begin = prompt.size();
    for (uint32_t turn = 0; turn < n_turns; ++turn) {
        append(prompt, dice.text(dice.between(20, 160)));
        const Tokens answer = dice.text(dice.between(40, 300));
        trace.requests.push_back({now_ms, prompt, answer});
        now_ms += kTokenMs * static_cast<double>(answer.size());
        if (dice.fraction() < 0.08) {  // another answer to the same
            trace.requests.push_back(
                {now_ms, prompt, dice.text(static_cast<uint32_t>(answer.size()))});
            now_ms += kTokenMs * static_cast<double>(answer.size());
        }
        const Tokens said(prompt.begin() + static_cast<std::ptrdiff_t>(begin), prompt.end());
        if (turn == 0)
            trace.requests.push_back(
                {now_ms + kSideCallMs, joined(texts.title, said), dice.text(8)});
        if (turn % 6 == 5)
            trace.requests.push_back(
                {now_ms + kSideCallMs, joined(texts.summary, said), dice.text(120)});
        append(prompt, answer);
        now_ms += dice.waiting(dice.fraction() < 0.05 ? kLunchMs : kThinkMs);
    }
}

// ---- agents ----

constexpr uint32_t kTasks = 70;
constexpr double kAgentsMs = 60 * 60e3, kToolMs = 4e3;

// Loops of one task; some of its calls start another agent.
double add_loops(Trace& trace, const std::vector<Tokens>& instructions, uint32_t kind,
                 double now_ms, Dice& dice) {
    Tokens prompt = joined(instructions[kind], dice.text(dice.between(40, 200)));
    const bool may_delegate = kind + 1 < instructions.size();
    const uint32_t n_steps = dice.between(4, 12);
    for (uint32_t step = 0; step < n_steps; ++step) {
        const Tokens call = dice.text(dice.between(20, 80));
        trace.requests.push_back({now_ms, prompt, call});
        append(prompt, call);
        now_ms += kTokenMs * static_cast<double>(call.size()) + dice.waiting(kToolMs);
        if (may_delegate && dice.fraction() < 0.12)
            now_ms = add_loops(trace, instructions, static_cast<uint32_t>(instructions.size()) - 1,
                               now_ms, dice);
        append(prompt, dice.text(dice.between(30, 300)));
    }
    return now_ms;
}

// ---- retrieval ----

constexpr uint32_t kDocuments = 120, kQuestions = 420, kDocumentsOfPrompt = 4;
constexpr double kRetrievalMs = 60 * 60e3;

// The n-th document is asked for 1/n as often as the first.
uint32_t popular(Dice& dice) {
    double sum = 0;
    for (uint32_t i = 0; i < kDocuments; ++i) sum += 1.0 / (i + 1);
    double left = dice.fraction() * sum;
    uint32_t document = 0;
    while (document + 1 < kDocuments && left >= 1.0 / (document + 1)) left -= 1.0 / (++document);
    return document;
}

std::vector<uint32_t> some_documents(Dice& dice) {
    std::vector<uint32_t> chosen;
    while (chosen.size() < kDocumentsOfPrompt) {
        const uint32_t document = popular(dice);
        if (std::find(chosen.begin(), chosen.end(), document) == chosen.end())
            chosen.push_back(document);
    }
    if (dice.fraction() < 0.5)
        std::sort(chosen.begin(), chosen.end());  // a client that keeps order
    return chosen;
}

}  // namespace

Trace chat_trace(uint64_t seed) {
    Dice dice(seed, 1);
    const ChatTexts texts{.system = {dice.text(400), dice.text(120), dice.text(40)},
                          .title = dice.text(60),
                          .summary = dice.text(70)};
    Trace trace{.name = "chat",
                .description =
                    "90 conversations of 2 to 14 turns within 90 minutes, people think a "
                    "minute on average and some go to lunch; three system prompts; a "
                    "call for a title after the first turn, for a summary after every "
                    "sixth; one answer in twelve is asked for again.",
                .requests = {}};
    for (uint32_t i = 0; i < kConversations; ++i) add_conversation(trace, texts, dice);
    return in_order(std::move(trace));
}

Trace agent_trace(uint64_t seed) {
    Dice dice(seed, 2);
    const std::vector<Tokens> instructions = {dice.text(1800), dice.text(1200), dice.text(700)};
    Trace trace{.name = "agents",
                .description =
                    "70 tasks within an hour, each a loop of 4 to 12 tool calls after "
                    "instructions of 1800 or 1200 tokens that the tasks share; one call "
                    "in eight starts another agent, whose instructions have 700.",
                .requests = {}};
    for (uint32_t i = 0; i < kTasks; ++i)
        add_loops(trace, instructions, dice.below(2), dice.fraction() * kAgentsMs, dice);
    return in_order(std::move(trace));
}

Trace retrieval_trace(uint64_t seed) {
    Dice dice(seed, 3);
    const Tokens system = dice.text(150);
    std::vector<Tokens> documents;
    for (uint32_t i = 0; i < kDocuments; ++i)
        documents.push_back(dice.text(dice.between(200, 700)));
    Trace trace{.name = "retrieval",
                .description =
                    "420 questions within an hour, each after four of 120 documents of "
                    "200 to 700 tokens, the n-th of which is asked for 1/n as often as "
                    "the first; half of the clients sort them; after one question in "
                    "three comes another.",
                .requests = {}};
    for (uint32_t i = 0; i < kQuestions; ++i) {
        double now_ms = dice.fraction() * kRetrievalMs;
        Tokens prompt = system;
        for (const uint32_t document : some_documents(dice)) append(prompt, documents[document]);
        do {
            append(prompt, dice.text(dice.between(15, 40)));
            const Tokens answer = dice.text(dice.between(60, 150));
            trace.requests.push_back({now_ms, prompt, answer});
            append(prompt, answer);
            now_ms += dice.waiting(kThinkMs);
        } while (dice.fraction() < 1.0 / 3);
    }
    return in_order(std::move(trace));
}

std::vector<Trace> all_traces(uint64_t seed) {
    std::vector<Trace> traces;
    traces.push_back(chat_trace(seed));
    traces.push_back(agent_trace(seed));
    traces.push_back(retrieval_trace(seed));
    return traces;
}

TraceFacts facts_of(const Trace& trace) {
    TraceFacts facts{.n_requests = static_cast<uint32_t>(trace.requests.size())};
    for (const TraceRequest& request : trace.requests) {
        facts.n_prompt_tokens += request.prompt.size();
        facts.longest = std::max(
            facts.longest, static_cast<uint32_t>(request.prompt.size() + request.answer.size()));
    }
    return facts;
}

}  // namespace kvik::lab
