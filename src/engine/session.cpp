#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/chat_prompt.h"
#include "engine/engine_impl.h"
#include "engine/stream_channel.h"
#include "kvik/kvik.h"

namespace kvik {

static constexpr std::string_view kUser = "user", kAssistant = "assistant";

void Session::interrupt() {
    if (pending_) pending_->cancel();
    collect_answer();
}

// The answer under way becomes a message, or the rest of one.
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

// An answer of which the text alone is known: its ids are those of the text after its prompt.
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

// ---- what does not fit ----

// An answer may be as long as it likes: a quarter of the context is kept free for it then, and for
// the turns until messages are left out again, which costs a prompt anew.
static uint32_t room_for_answer(uint32_t n_new, uint32_t context) {
    return std::min(n_new, context / 4);
}

Result<Session::Prompt> Session::encode_what_fits(Timeline& timeline, const GenerateRequest& how) {
    KVIK_TRY(Prompt prompt, encode(timeline));
    const uint32_t context = engine_->used().context;
    if (options_.overflow == Overflow::error || prompt.point->end_tokens() < context) return prompt;
    const uint32_t n_room = room_for_answer(std::max(1u, how.max_new_tokens), context);
    while (prompt.point->end_tokens() + n_room > context && timeline.leave_out_oldest()) {
        KVIK_TRY(prompt, encode(timeline));
    }
    return prompt;  // of one exchange, if it is still too long: an error that names both numbers
}

}  // namespace kvik
