#include <fmt/format.h>

#include <utility>

#include "engine/chat_prompt.h"
#include "engine/stream_channel.h"
#include "kvik/kvik.h"
#include "text/detokenizer.h"

namespace kvik {

static constexpr std::string_view kSystem = "system", kUser = "user", kAssistant = "assistant";

// What the engine was given and gave up to here, token by token and the same as text: what it adds
// to the point before. Forks and branches share the points that they have in common.
struct Session::Point {
    std::shared_ptr<const Point> before;
    std::vector<TokenId> ids;
    std::string text;
    uint32_t n_tokens = 0;  // with those before

    Point(std::shared_ptr<const Point> its_before, std::vector<TokenId> its_ids,
          std::string its_text)
        : before(std::move(its_before)), ids(std::move(its_ids)), text(std::move(its_text)) {
        n_tokens = static_cast<uint32_t>(ids.size()) + (before ? before->n_tokens : 0);
    }

    std::vector<const Point*> from_start() const {
        std::vector<const Point*> points;
        for (const Point* point = this; point; point = point->before.get()) points.push_back(point);
        return {points.rbegin(), points.rend()};
    }
    std::vector<TokenId> all_ids() const {
        std::vector<TokenId> all;
        all.reserve(n_tokens);
        for (const Point* point : from_start()) {
            all.insert(all.end(), point->ids.begin(), point->ids.end());
        }
        return all;
    }
    // Bytes of `rendered` that are this point's text; nothing: it does not begin with it.
    std::optional<size_t> match(std::string_view rendered) const {
        size_t n_bytes = 0;
        for (const Point* point : from_start()) {
            if (!rendered.substr(n_bytes).starts_with(point->text)) return std::nullopt;
            n_bytes += point->text.size();
        }
        return n_bytes;
    }
};

// ---- the timeline ----

void Session::Timeline::add(ChatMessage message, std::shared_ptr<const Point> point) {
    messages.push_back(std::move(message));
    points.push_back(std::move(point));
}

void Session::Timeline::cut(size_t n_messages) {
    if (n_messages >= messages.size()) return;
    messages.resize(n_messages);
    points.resize(n_messages);
}

bool Session::Timeline::has_system() const {
    return !messages.empty() && messages.front().role == kSystem;
}

void Session::set_system(std::string text) {
    settle();
    if (now_.has_system()) {
        now_.messages.erase(now_.messages.begin());
        now_.points.erase(now_.points.begin());
    }
    if (text.empty()) return;
    now_.messages.insert(now_.messages.begin(), {std::string(kSystem), std::move(text)});
    now_.points.insert(now_.points.begin(), nullptr);
}

void Session::rewind(size_t n_messages) {
    settle();
    now_.cut(n_messages);
}

void Session::clear() {
    settle();
    now_.cut(now_.has_system() ? 1 : 0);
    n_kept_tokens_ = 0;
}

void Session::restore(std::vector<ChatMessage> messages) {
    settle();
    now_ = {};
    for (ChatMessage& message : messages) now_.add(std::move(message), nullptr);
    n_kept_tokens_ = 0;
}

Session Session::fork() {
    settle();
    Session other(*engine_);
    other.now_ = now_;
    return other;
}

const std::vector<ChatMessage>& Session::messages() {
    settle();
    return now_.messages;
}

SessionStats Session::stats() {
    settle();
    SessionStats stats;
    stats.n_messages = static_cast<uint32_t>(now_.messages.size());
    for (const auto& point : now_.points) {
        if (point) stats.n_tokens = point->n_tokens;
    }
    stats.n_kept_tokens = n_kept_tokens_;
    return stats;
}

// ---- turns ----

static std::string text_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
    Detokenizer detokenizer(tokenizer, Controls::shown);
    std::string text;
    for (const TokenId id : ids) text += detokenizer.push(id);
    return text + detokenizer.finish();
}

void Session::interrupt() {
    if (pending_) pending_->cancel();
    settle();
}

// The answer under way becomes a message. Where its text is not that of its ids (a stop string cut
// it, a control token is in it), no point stands after it.
void Session::settle() {
    if (!pending_) return;
    const std::shared_ptr<Stream::State> stream = std::exchange(pending_, nullptr);
    Timeline before = std::exchange(before_, {});
    std::optional<Transcript> answer = stream->transcript();
    if (!answer || answer->ids.empty()) {
        now_ = std::move(before);
        return;
    }
    std::shared_ptr<const Point> point;
    if (text_of(*engine_->tokenizer(), answer->ids) == answer->text) {
        point = std::make_shared<Point>(now_.points.back(), std::move(answer->ids), answer->text);
    }
    now_.add({std::string(kAssistant), std::move(answer->text)}, std::move(point));
}

// Whoever goes on from a point tokenises only what comes after it, and only where a control token
// stands at the seam: no token of the whole text could have crossed it. The latest such point wins.
Result<std::shared_ptr<const Session::Point>> Session::prompt_for(const Timeline& timeline) {
    KVIK_TRY(MarkedText rendered, engine_->render(timeline.messages));
    const Tokenizer* tokenizer = engine_->tokenizer();
    for (auto point = timeline.points.rbegin(); point != timeline.points.rend(); ++point) {
        const auto n_bytes = *point ? (*point)->match(rendered.text) : std::nullopt;
        if (!n_bytes) continue;
        n_kept_tokens_ = (*point)->n_tokens;
        if (*n_bytes == rendered.text.size()) return *point;
        std::vector<TokenId> rest = tokenizer->encode(text_from(rendered, *n_bytes));
        if (rest.empty() || !tokenizer->is_control(rest.front())) continue;
        return std::make_shared<Point>(*point, std::move(rest), rendered.text.substr(*n_bytes));
    }
    n_kept_tokens_ = 0;
    return std::make_shared<Point>(nullptr, encode_prompt(*tokenizer, rendered), rendered.text);
}

Result<Stream> Session::ask(Timeline next, GenerateRequest how) {
    KVIK_TRY(std::shared_ptr<const Point> prompt, prompt_for(next));
    how.prompt = prompt->all_ids();
    auto state = std::make_shared<Stream::State>();
    state->keep_transcript();
    KVIK_TRY(Stream stream, engine_->submit(std::move(how), state));
    next.points.back() = std::move(prompt);
    before_ = std::exchange(now_, std::move(next));
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

}  // namespace kvik
