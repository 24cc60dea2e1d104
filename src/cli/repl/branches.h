// Branches: conversations that were forked from each other, one of which is talked to.
//
// Owner   their sessions.   Cost  a fork copies the messages.
// Errors  ErrorKind::usage: a name that is taken or no name, with the nearest known one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/repl/conversation.h"
#include "kvik/kvik.h"

namespace kvik::cli {

struct Branch {
    std::string name;
    std::string from;     // the name of the branch it was forked from; empty: the first one
    size_t n_shared = 0;  // messages it had then
    Conversation talk;
};

class Branches {
  public:
    explicit Branches(Engine& engine);

    Conversation& talk() { return all_[current_].talk; }
    Session& session() { return talk().session(); }
    const Branch& current() const { return all_[current_]; }
    std::vector<Branch>& all() { return all_; }

    // The first n messages, and goes there; an empty name: one is made up. Other answers stay where
    // they were given.
    Result<void> fork(std::string_view name, size_t n_messages = SIZE_MAX);
    Result<void> go(std::string_view name);  // "-": where the last fork or go came from

  private:
    bool is_taken(std::string_view name) const;

    std::vector<Branch> all_;
    size_t current_ = 0, last_ = 0;
};

}  // namespace kvik::cli
