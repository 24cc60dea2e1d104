// Session: its messages, and going back and apart in them.
#include <fmt/format.h>

#include <utility>

#include "engine/ledger/ledger_point.h"
#include "kvik/kvik.h"
#include "text/utf8.h"

namespace kvik {

static constexpr std::string_view kSystem = "system", kUser = "user", kAssistant = "assistant";

void Session::Timeline::add(ChatMessage message, Point point) {
    messages.push_back(std::move(message));
    points.push_back(std::move(point));
}

// Going back to where messages were left out, all of what remains is wanted again.
void Session::Timeline::cut(size_t n_messages) {
    if (n_messages >= messages.size()) return;
    messages.resize(n_messages);
    points.resize(n_messages);
    if (n_left_out + (has_system() ? 1 : 0) >= n_messages) n_left_out = 0;
}

bool Session::Timeline::has_system() const {
    return !messages.empty() && messages.front().role == kSystem;
}

std::vector<ChatMessage> Session::Timeline::prompt() const {
    std::vector<ChatMessage> kept = messages;
    const ptrdiff_t begin = has_system() ? 1 : 0;
    kept.erase(kept.begin() + begin, kept.begin() + begin + static_cast<ptrdiff_t>(n_left_out));
    return kept;
}

// What is left begins with a message of the user's, as templates want it. False: nothing to leave
// out but the last one.
bool Session::Timeline::leave_out_oldest() {
    const size_t begin = has_system() ? 1 : 0;
    for (size_t at = begin + n_left_out + 1; at < messages.size(); ++at) {
        if (messages[at].role != kUser) continue;
        n_left_out = at - begin;
        return true;
    }
    return false;
}

Session::Point Session::Timeline::last_point() const {
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
        if (*point) return *point;
    }
    return nullptr;
}

// Of the answer that is the last message: its ids, up to its last byte.
bool Session::Timeline::knows_last_answer() const {
    const size_t n = messages.size();
    if (n < 2 || messages[n - 1].role != kAssistant || !points[n - 1] || !points[n - 2])
        return false;
    const size_t n_bytes = points[n - 1]->end_bytes() - points[n - 2]->end_bytes();
    return n_bytes == messages[n - 1].content.size();
}

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

// What the other one goes away from later is its own, never what this one has.
Session Session::fork(size_t n_messages) {
    collect_answer();
    Session other(*engine_, options_);
    other.now_ = now_;
    other.now_.cut(n_messages);
    other.held_ = other.now_.last_point();
    other.salt_ = salt_;
    return other;
}

// The first n tokens up to the end of an answer, as a point of its own.
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

}  // namespace kvik
