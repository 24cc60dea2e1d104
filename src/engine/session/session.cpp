#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/engine_impl.h"
#include "engine/ledger/ledger_point.h"
#include "engine/request/stream_channel.h"
#include "engine/session/chat_prompt.h"
#include "kvik/kvik.h"
#include "sched/sequence.h"
#include "text/utf8.h"

namespace kvik {

static constexpr std::string_view kSystem = "system", kUser = "user", kAssistant = "assistant";

// ---- what is under way ----

void Session::interrupt() {
    if (pending_) pending_->cancel();
    collect_answer();
}

// Waits for the end of the answer under way and makes it a message, or the rest of the last one.
void Session::collect_answer() {
    if (!pending_) return;
    const std::shared_ptr<Stream::State> stream = std::exchange(pending_, nullptr);
    Timeline before = std::exchange(before_, {});
    std::optional<Transcript> answer = stream->transcript();
    if (!answer || answer->ids.empty()) {
        now_ = std::move(before);
        held_ = now_.last_point();
        return;
    }
    held_ = answer->point;
    if (wanted_ == Next::answer) {
        now_.add({std::string(kAssistant), std::move(answer->text)}, std::move(answer->point));
        return;
    }
    now_.messages.back().content += answer->text;
    now_.points.back() = std::move(answer->point);
}

Result<Session::Prompt> Session::encode(const Timeline& timeline) {
    KVIK_TRY(const MarkedText rendered, engine_->render(timeline.prompt()));
    TokenLedger::Prompt prompt = engine_->impl_->ledger->encode(rendered, timeline.last_point());
    return Prompt{std::move(prompt.point), prompt.n_kept_tokens};
}

Result<Stream> Session::ask(Timeline next, GenerateRequest how) {
    KVIK_TRY(Prompt prompt, encode_what_fits(next, how));
    next.points.back() = prompt.point;
    return submit(std::move(next), std::move(how), std::move(prompt), Next::answer);
}

Result<Stream> Session::submit(Timeline next, GenerateRequest how, Prompt prompt, Next wanted) {
    how.prompt = ids_of(*prompt.point);
    KVIK_TRY_VOID(engine_->check(how));
    KVIK_TRY_VOID(invalidate(how.prompt));
    salt_ = how.cache_salt;
    auto state = std::make_shared<Stream::State>();
    state->keep_transcript(*engine_->impl_->ledger, prompt.point);
    KVIK_TRY(Stream stream, engine_->submit(std::move(how), state));
    held_ = std::move(prompt.point);
    counts_.n_kept_tokens = prompt.n_kept_tokens;
    before_ = std::exchange(now_, std::move(next));
    wanted_ = wanted;
    pending_ = std::move(state);
    return stream;
}

Result<Stream> Session::send(std::string text, GenerateRequest how) {
    interrupt();
    Timeline next = now_;
    next.add({std::string(kUser), std::move(text)}, nullptr);
    return ask(std::move(next), std::move(how));
}

Result<Stream> Session::regenerate(GenerateRequest how) {
    interrupt();
    Timeline next = now_;
    while (!next.messages.empty() && next.messages.back().role != kUser) {
        next.cut(next.messages.size() - 1);
    }
    if (next.messages.empty()) {
        return fail(ErrorKind::usage, "there is no message yet that could be answered again");
    }
    return ask(std::move(next), std::move(how));
}

Result<Stream> Session::edit(size_t index, std::string text, GenerateRequest how) {
    interrupt();
    if (index >= now_.messages.size() || now_.messages[index].role != kUser) {
        return fail(ErrorKind::usage,
                    fmt::format("message {} of {} is not one of the user's: only these can change",
                                index, now_.messages.size()));
    }
    Timeline next = now_;
    next.cut(index);
    next.add({std::string(kUser), std::move(text)}, nullptr);
    return ask(std::move(next), std::move(how));
}

Result<Stream> Session::resume(GenerateRequest how) {
    interrupt();
    if (now_.knows_last_answer()) {
        const Point point = now_.points.back();
        return submit(now_, std::move(how), {point, point->end_tokens()}, Next::rest_of_answer);
    }
    KVIK_TRY(Timeline known, tokenise_last_answer());
    const Point point = known.points.back();
    return submit(std::move(known), std::move(how), {point, 0}, Next::rest_of_answer);
}

// Gives the last answer, of which only the text is known, the ids of that text after its prompt.
Result<Session::Timeline> Session::tokenise_last_answer() {
    const size_t n = now_.messages.size();
    if (n < 2 || now_.messages.back().role != kAssistant)
        return fail(ErrorKind::usage, "there is no answer to go on with");
    Timeline before = now_;
    before.cut(n - 1);
    KVIK_TRY(MarkedText text, engine_->render(before.prompt()));
    TokenLedger& ledger = *engine_->impl_->ledger;
    Timeline known = now_;
    known.points[n - 2] = ledger.encode(text, before.last_point()).point;
    const std::string& said = now_.messages.back().content;
    text.untrusted.push_back({text.text.size(), text.text.size() + said.size()});
    text.text += said;
    known.points[n - 1] = ledger.encode(text, known.points[n - 2]).point;
    return known;
}

// ---- a conversation that is longer than the context ----

// Returns how many tokens stay free for the answer when messages are left out. A quarter of the
// context is enough even for an unlimited answer, and leaves room for some more turns: leaving
// messages out again would cost computing the prompt anew.
static uint32_t tokens_for_answer(uint32_t n_new, uint32_t context) {
    return std::min(n_new, context / 4);
}

Result<Session::Prompt> Session::encode_what_fits(Timeline& timeline, const GenerateRequest& how) {
    KVIK_TRY(Prompt prompt, encode(timeline));
    const uint32_t context = engine_->used().context;
    if (options_.overflow == Overflow::error || prompt.point->end_tokens() < context) return prompt;
    const uint32_t n_free = tokens_for_answer(std::max(1u, how.max_new_tokens), context);
    while (prompt.point->end_tokens() + n_free > context && timeline.leave_out_oldest()) {
        KVIK_TRY(prompt, encode(timeline));
    }
    return prompt;  // if one exchange alone is too long, submit refuses it with both numbers
}

// ---- going back, forking ----

void Session::set_system(std::string text) {
    collect_answer();
    if (now_.has_system()) {
        now_.messages.erase(now_.messages.begin());
        now_.points.erase(now_.points.begin());
    }
    if (text.empty()) return;
    now_.messages.insert(now_.messages.begin(), {std::string(kSystem), std::move(text)});
    now_.points.insert(now_.points.begin(), nullptr);
}

void Session::rewind(size_t n_messages) {
    collect_answer();
    now_.cut(n_messages);
}

void Session::restore(std::vector<ChatMessage> messages) {
    collect_answer();
    now_ = {};
    for (ChatMessage& message : messages) now_.add(std::move(message), nullptr);
    counts_.n_kept_tokens = 0;
}

Session Session::fork() {
    return fork(SIZE_MAX);
}

// The fork holds the KV of its own last message: leaving it later never gives up what this
// conversation holds.
Session Session::fork(size_t n_messages) {
    collect_answer();
    Session other(*engine_, options_);
    other.now_ = now_;
    other.now_.cut(n_messages);
    other.held_ = other.now_.last_point();
    other.salt_ = salt_;
    return other;
}

// Returns a ledger point that ends after the first n tokens of the text up to `point`.
static std::shared_ptr<const LedgerPoint> first_tokens(std::shared_ptr<const LedgerPoint> point,
                                                       uint32_t n, const Tokenizer& tokenizer) {
    while (n <= point->begin.n_tokens) point = point->begin.point;
    size_t n_bytes = point->begin.n_bytes;
    for (uint32_t i = 0; i < n - point->begin.n_tokens; ++i) {
        n_bytes += tokenizer.piece(point->ids[i]).size();
    }
    return std::make_shared<LedgerPoint>(PointKind::answer,
                                         LedgerPlace{std::move(point), n_bytes, n}, MarkedText{},
                                         std::vector<TokenId>{});
}

Result<Session> Session::fork_at_token(uint32_t n_tokens) {
    collect_answer();
    for (size_t i = 0; i < now_.points.size(); ++i) {
        const Point& end = now_.points[i];
        if (!end || end->end_tokens() < n_tokens) continue;
        if (end->end_tokens() == n_tokens) return fork(i + 1);
        const bool is_answer = i > 0 && now_.messages[i].role == kAssistant && now_.points[i - 1];
        if (!is_answer || now_.points[i - 1]->end_tokens() > n_tokens) break;
        const Point point = first_tokens(end, n_tokens, *engine_->tokenizer());
        Session other = fork(i + 1);
        std::string& text = other.now_.messages.back().content;
        text.resize(point->end_bytes() - now_.points[i - 1]->end_bytes());
        if (utf8_valid_prefix(text) != text.size()) {
            return fail(ErrorKind::usage, fmt::format("token {} ends inside a character: fork a "
                                                      "token or two before it",
                                                      n_tokens));
        }
        other.now_.points.back() = other.held_ = point;
        return other;
    }
    return fail(ErrorKind::usage,
                fmt::format("token {} of {} is inside a message that is no answer: a conversation "
                            "forks at the end of a message or inside of an answer",
                            n_tokens, stats().n_tokens));
}

const std::vector<ChatMessage>& Session::messages() {
    collect_answer();
    return now_.messages;
}

SessionStats Session::stats() {
    collect_answer();
    SessionStats stats = counts_;
    stats.n_messages = static_cast<uint32_t>(now_.messages.size());
    stats.n_left_out = static_cast<uint32_t>(now_.n_left_out);
    const Point point = now_.last_point();
    stats.n_tokens = point ? point->end_tokens() : 0;
    return stats;
}

// ---- KV that the conversation goes on without ----

// Leaves the KV of the last prompt and answer if the next prompt does not continue it. A prompt
// that is a prefix of the held tokens, or begins with all of them, leaves nothing.
Result<void> Session::invalidate(std::span<const TokenId> next) {
    if (!held_) return {};
    const std::vector<TokenId> held = ids_of(*held_);
    const uint32_t n_common = common_prefix(held, next);
    if (n_common == held.size() || n_common == next.size()) return {};
    return give_up(held, n_common);
}

Result<void> Session::give_up(std::vector<TokenId> held, uint32_t n_common) {
    const bool is_full = options_.invalidation == Invalidation::full;
    const uint32_t from = is_full ? 0 : n_common;
    const size_t n_given_up = held.size() - from;
    if (options_.invalidation != Invalidation::partial) {
        KVIK_TRY_VOID(engine_->forget(std::move(held), from,
                                      is_full ? ForgetKind::now : ForgetKind::stale, salt_));
    }
    ++counts_.n_invalidations;
    counts_.n_invalidated_tokens += n_given_up;
    held_ = nullptr;
    return {};
}

// Returns how many of these ids any conversation with the same system message begins with; 0 if the
// template cannot render it.
uint32_t Session::count_system_tokens(std::span<const TokenId> ids) {
    Timeline other;
    if (now_.has_system()) other.add(now_.messages.front(), nullptr);
    other.add({"user", ""}, nullptr);
    const Result<MarkedText> rendered = engine_->render(other.messages);
    return rendered ? common_prefix(ids, encode_prompt(*engine_->tokenizer(), *rendered)) : 0;
}

Result<void> Session::reset_topic() {
    collect_answer();
    if (held_) {
        std::vector<TokenId> held = ids_of(*held_);
        const uint32_t n_common = count_system_tokens(held);
        KVIK_TRY_VOID(give_up(std::move(held), n_common));
    }
    now_.cut(now_.has_system() ? 1 : 0);
    counts_.n_kept_tokens = 0;
    return {};
}

}  // namespace kvik
