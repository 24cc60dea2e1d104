// HistoryFile: what was typed in earlier chats, oldest first.
//
// Shape   a line an entry; a newline in it is written \n, a backslash \\.
//         $XDG_STATE_HOME/kvik/chat_history, else ~/.local/state/kvik/chat_history, mode 0600.
// Cost    at most 1000 entries and 1 MiB are kept; an entry over 64 KiB is not written.
// Errors  a home that is missing or cannot be written: ErrorKind::file; nothing else depends on it.
// Invariant several chats at once lose no entry: each is appended whole, under a lock. A file that
//         is not ours, or is a link, is not touched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/flags/flags.h"

namespace kvik::cli {

inline constexpr size_t kMostHistoryEntries = 1000;
inline constexpr size_t kMostHistoryBytes = 1u << 20;
inline constexpr size_t kMostHistoryEntryBytes = 64u << 10;

// Empty: the environment names no home.
std::string history_path(const Environment& environment);

class HistoryFile {
  public:
    explicit HistoryFile(std::string path) : path_(std::move(path)) {}

    // Makes the file and its folders where they are missing, and shortens it if it has grown long.
    Result<std::vector<std::string>> load() const;
    Result<void> append(std::string_view entry) const;

  private:
    std::string path_;
};

}  // namespace kvik::cli
