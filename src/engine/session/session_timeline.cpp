// Session::Timeline: the messages of a conversation, which of them prompts leave out, and the
// ledger point after each.
#include <utility>

#include "engine/ledger/ledger_point.h"
#include "kvik/kvik.h"

namespace kvik {

static constexpr std::string_view kSystem = "system", kUser = "user", kAssistant = "assistant";

void Session::Timeline::add(ChatMessage message, Point point) {
    messages.push_back(std::move(message));
    points.push_back(std::move(point));
}

// If only messages remain that were left out of prompts, prompts include all of them again.
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

// Leaves out the messages before the next message of the user, because templates expect a
// conversation to begin with one. Returns false if only the last exchange is left.
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

// Returns true if the last message is an answer whose ids are known up to its last byte.
bool Session::Timeline::knows_last_answer() const {
    const size_t n = messages.size();
    if (n < 2 || messages[n - 1].role != kAssistant || !points[n - 1] || !points[n - 2])
        return false;
    const size_t n_bytes = points[n - 1]->end_bytes() - points[n - 2]->end_bytes();
    return n_bytes == messages[n - 1].content.size();
}

}  // namespace kvik
