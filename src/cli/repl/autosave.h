// Autosave: conversations kept as they go on, so that a chat can be gone on with later.
//
// Shape   a file of saved_chat.h for each conversation, NAME-DIGEST-TIME-PROCESS.json, in
//         $XDG_STATE_HOME/kvik/chats, else ~/.local/state/kvik/chats; NAME and DIGEST stand for the
//         model file. Mode 0600, the folder 0700.
// Cost    the whole conversation is written before and after each answer. The 20 latest of a model are kept.
// Errors  ErrorKind::file, naming what cannot be written or read.
// Invariant a file changes all at once; two chats never write to one file unless both resumed it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik::cli {

inline constexpr size_t kMostKeptChats = 20;

class Autosave {
  public:
    // `folder` need not be there yet. A model is known by a path; `name` is for the name of the file
    // where that of the path says little.
    Autosave(std::string folder, const std::string& model_path, const std::string& name = "");

    std::optional<std::string> latest() const;  // the path of the conversation saved last
    void go_on_with(std::string path) { path_ = std::move(path); }
    void drop();                             // the file, and begins another
    void begin_another() { path_.clear(); }  // what is saved next goes to a file of its own
    Result<void> save(std::string_view json);
    const std::string& path() const { return path_; }  // empty: nothing is saved yet

  private:
    std::vector<std::string> all_by_time() const;  // the latest first
    void drop_oldest() const;

    std::string folder_, key_, path_, last_;
    uint32_t n_begun_ = 0;
};

}  // namespace kvik::cli
