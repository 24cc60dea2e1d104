// Conversation: a session, the other answers that were given in it, and what was taken back of it.
//
// Shape   each message of the user has its answers, in the order they came; one of them is the one
//         that the conversation goes on from.
// Owner   its sessions.
// Cost    an answer that was not the only one, and an exchange that was taken back, keep a copy of
//         the messages; the ids of their tokens are shared.
// Errors  ErrorKind::usage: there is no such answer, nothing to take back or to bring back.
// Invariant an answer that is shown again has the tokens it had: nothing of it is computed again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kvik/kvik.h"

namespace kvik::cli {

class Conversation {
  public:
    explicit Conversation(Session session) : session_(std::move(session)) {}

    Session& session() { return session_; }
    // The number of messages of the user's so far.
    size_t n_asked();

    // What happened to the session; the caller says so.
    void sent();            // an answer to a message that is new, or took the place of an old one
    void before_another();  // another answer to the last message is about to be asked for,
    void another();         // and has come
    void went_on();         // the last answer has become longer
    void replaced();        // messages and all: nothing of before can be shown again

    // The answers to the last message.
    std::vector<std::string> answers();
    size_t shown();                      // which of them, from 1 on; 0: there is none
    Result<void> show_answer(size_t n);  // from 1 on
    Result<std::string> take_back();     // the last exchange; the user's message in it
    Result<std::string> bring_back();    // what was taken back last

  private:
    struct Answers {
        std::vector<Session> all;
        size_t shown = 0;  // in all
    };
    using AnswersOf = std::map<size_t, Answers>;  // by n_asked()
    struct TakenBack {
        Session session;
        AnswersOf answers;  // of the messages that went
    };
    void become(Session session);
    bool has_answer();

    Session session_;
    AnswersOf answers_;  // where there is more than one
    std::vector<TakenBack> taken_back_;
};

}  // namespace kvik::cli
