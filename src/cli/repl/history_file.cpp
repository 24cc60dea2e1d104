#include "cli/repl/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "cli/repl/atomic_file.h"
#include "cli/repl/file_descriptor.h"
#include "cli/values.h"

namespace kvik::cli {
namespace {

std::string escaped(std::string_view entry) {
    std::string line;
    for (const char c : entry) {
        if (c == '\n') {
            line += "\\n";
        } else if (c == '\\') {
            line += "\\\\";
        } else if (c != '\0') {
            line += c;
        }
    }
    return line;
}

std::string unescaped(std::string_view line) {
    std::string entry;
    for (size_t i = 0; i < line.size(); ++i) {
        const bool is_escape = line[i] == '\\' && i + 1 < line.size();
        if (!is_escape) {
            if (line[i] != '\0') entry += line[i];
            continue;
        }
        ++i;
        entry += line[i] == 'n' ? '\n' : line[i];
    }
    return entry;
}

tl::unexpected<Error> no_history(const std::string& path, int error) {
    return fail(ErrorKind::file,
                fmt::format("history is not kept: {}: {}", path, std::strerror(error)));
}

// Ours, and nobody else's to read.
Result<void> check(int fd, const std::string& path) {
    if (fd < 0) return no_history(path, errno);
    struct stat status {};
    if (::fstat(fd, &status) != 0) return no_history(path, errno);
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
        return fail(ErrorKind::file,
                    fmt::format("history is not kept: {} is no file of yours", path));
    if ((status.st_mode & 0077) != 0 && ::fchmod(fd, 0600) != 0) return no_history(path, errno);
    return {};
}

constexpr int kMostLockTries = 40;
constexpr std::chrono::milliseconds kLockPause{5};

// Opens the file and takes its lock. Whoever shortens it puts a new file in its place, so the name
// is looked at again once the lock is there.
Result<FileDescriptor> open_locked(const std::string& path, int flags) {
    for (int i = 0; i < kMostLockTries; ++i) {
        FileDescriptor file(
            ::open(path.c_str(), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
        KVIK_TRY_VOID(check(file.get(), path));
        if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
            struct stat ours {
            }, named{};
            if (::fstat(file.get(), &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
                ours.st_ino == named.st_ino && ours.st_dev == named.st_dev)
                return file;
            continue;
        }
        std::this_thread::sleep_for(kLockPause);
    }
    return fail(ErrorKind::file,
                fmt::format("history is not kept: {} is locked by another program", path));
}

// The end of the file, from the start of a line on; `whole` is false if that is not all.
Result<std::string> read_end(int fd, const std::string& path, bool& whole) {
    const off_t size = ::lseek(fd, 0, SEEK_END);
    if (size < 0) return no_history(path, errno);
    const off_t begin = std::max<off_t>(0, size - static_cast<off_t>(kMostHistoryBytes));
    std::string text(static_cast<size_t>(size - begin), '\0');
    size_t n_read = 0;
    while (n_read < text.size()) {
        const ssize_t n = ::pread(fd, text.data() + n_read, text.size() - n_read,
                                  begin + static_cast<off_t>(n_read));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return no_history(path, errno);
        if (n == 0) break;
        n_read += static_cast<size_t>(n);
    }
    text.resize(n_read);
    whole = begin == 0;
    if (!whole) text.erase(0, std::min(text.size(), text.find('\n') + 1));
    return text;
}

}  // namespace

std::string history_path(const Environment& environment) {
    const std::string state = environment("XDG_STATE_HOME").value_or("");
    if (state.starts_with('/')) return state + "/kvik/chat_history";
    const std::string home = environment("HOME").value_or("");
    if (home.starts_with('/')) return home + "/.local/state/kvik/chat_history";
    return "";
}

Result<std::vector<std::string>> HistoryFile::load() const {
    make_private_folders(path_);
    KVIK_TRY(const FileDescriptor file, open_locked(path_, O_RDWR));
    bool whole = true;
    KVIK_TRY(const std::string text, read_end(file.get(), path_, whole));
    std::vector<std::string> entries;
    for (const std::string_view line : split(text, '\n'))
        if (!line.empty()) entries.push_back(unescaped(line));
    if (whole && entries.size() <= kMostHistoryEntries) return entries;
    // Half of it goes, so that it is not rewritten at every start.
    const size_t n_kept = std::min(entries.size(), kMostHistoryEntries / 2);
    entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(n_kept));
    std::string shorter;
    for (const std::string& entry : entries) shorter += escaped(entry) + '\n';
    KVIK_TRY_VOID(replace_file(path_, shorter));
    return entries;
}

Result<void> HistoryFile::append(std::string_view entry) const {
    if (entry.size() > kMostHistoryEntryBytes) return {};
    KVIK_TRY(const FileDescriptor file, open_locked(path_, O_WRONLY | O_APPEND));
    const std::string line = escaped(entry) + '\n';
    const off_t before = ::lseek(file.get(), 0, SEEK_END);
    const ssize_t n = ::write(file.get(), line.data(), line.size());
    if (n == static_cast<ssize_t>(line.size())) return {};
    const int error = n < 0 ? errno : ENOSPC;
    // Half an entry would be glued to the next one. If even that fails there is nothing to do.
    if (n > 0 && before >= 0 && ::ftruncate(file.get(), before) != 0)
        return no_history(path_, errno);
    return no_history(path_, error);
}

}  // namespace kvik::cli
