#include "cli/repl/conversation.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvik::cli {
namespace {

bool is_users(const ChatMessage& message) {
    return message.role == "user";
}

// The system message, or none.
std::string system_of(Session& session) {
    const auto& messages = session.messages();
    const bool has_one = !messages.empty() && messages.front().role == "system";
    return has_one ? messages.front().content : "";
}

}  // namespace

size_t Conversation::n_asked() {
    const auto& messages = session_.messages();
    return static_cast<size_t>(std::count_if(messages.begin(), messages.end(), is_users));
}

bool Conversation::has_answer() {
    const auto& messages = session_.messages();
    return !messages.empty() && messages.back().role == "assistant";
}

// The system message may have changed since that session was kept: today's holds.
void Conversation::become(Session session) {
    const std::string system = system_of(session_);
    session_ = std::move(session);
    if (system_of(session_) != system) session_.set_system(system);
}

void Conversation::sent() {
    answers_.erase(answers_.lower_bound(n_asked()), answers_.end());
    taken_back_.clear();
}

void Conversation::before_another() {
    if (answers_.contains(n_asked()) || !has_answer()) return;
    answers_[n_asked()].all.push_back(session_.fork());
}

void Conversation::another() {
    Answers& answers = answers_[n_asked()];
    answers.all.push_back(session_.fork());
    answers.shown = answers.all.size() - 1;
    taken_back_.clear();
}

void Conversation::went_on() {
    taken_back_.clear();
    const auto found = answers_.find(n_asked());
    if (found != answers_.end()) found->second.all[found->second.shown] = session_.fork();
}

void Conversation::replaced() {
    answers_.clear();
    taken_back_.clear();
}

std::vector<std::string> Conversation::answers() {
    std::vector<std::string> texts;
    const auto found = answers_.find(n_asked());
    if (found == answers_.end()) {
        if (has_answer()) texts.push_back(session_.messages().back().content);
        return texts;
    }
    for (Session& session : found->second.all) texts.push_back(session.messages().back().content);
    return texts;
}

size_t Conversation::shown() {
    const auto found = answers_.find(n_asked());
    if (found != answers_.end()) return found->second.shown + 1;
    return has_answer() ? 1 : 0;
}

Result<void> Conversation::show_answer(size_t n) {
    const size_t n_answers = answers().size();
    if (n == 0 || n > n_answers)
        return fail(
            ErrorKind::usage,
            n_answers == 0
                ? "there is no answer yet"
                : fmt::format("there is no answer {}: the last message has {}, see /answers", n,
                              n_answers));
    const auto found = answers_.find(n_asked());
    if (found == answers_.end()) return {};  // the only one
    found->second.shown = n - 1;
    become(found->second.all[n - 1].fork());
    return {};
}

Result<std::string> Conversation::take_back() {
    const auto& messages = session_.messages();
    const auto last = std::find_if(messages.rbegin(), messages.rend(), is_users);
    if (last == messages.rend()) return fail(ErrorKind::usage, "there is nothing to take back");
    const std::string text = last->content;
    const auto index = static_cast<size_t>(messages.rend() - last) - 1;
    TakenBack gone{session_.fork(), {}};
    for (auto it = answers_.lower_bound(n_asked()); it != answers_.end();)
        gone.answers.insert(answers_.extract(it++));
    taken_back_.push_back(std::move(gone));
    session_.rewind(index);
    return text;
}

Result<std::string> Conversation::bring_back() {
    if (taken_back_.empty())
        return fail(ErrorKind::usage,
                    "there is nothing to bring back: /redo undoes an /undo, as long as nothing "
                    "was said since");
    TakenBack gone = std::move(taken_back_.back());
    taken_back_.pop_back();
    become(std::move(gone.session));
    answers_.merge(gone.answers);
    const auto& messages = session_.messages();
    return std::find_if(messages.rbegin(), messages.rend(), is_users)->content;
}

}  // namespace kvik::cli
