#include "lab/python.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

extern char** environ;

namespace kvik::lab {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Input as a file without a name: the program reads at its own pace and nobody waits for a pipe.
File file_with(const std::string& text) {
    File file(std::tmpfile());
    if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
        std::fflush(file.get()) != 0)
        return nullptr;
    std::rewind(file.get());
    return file;
}

// Where it exits within the deadline, its status as waitpid gives it.
std::optional<int> wait_for(pid_t child, std::chrono::milliseconds deadline) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    int status = 0;
    while (std::chrono::steady_clock::now() < end) {
        const pid_t done = ::waitpid(child, &status, WNOHANG);
        if (done == child) return status;
        if (done < 0 && errno != EINTR) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return std::nullopt;
}

}  // namespace

Result<int> run_python(const PythonRun& run) {
    const File input = file_with(run.input);
    if (!input)
        return fail(ErrorKind::file,
                    fmt::format("a temporary file for {}: {}", run.python, std::strerror(errno)));
    std::string words[] = {run.python, "-c", run.program, run.argument};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                         nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ::fileno(input.get()), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t child = 0;
    const int error =
        ::posix_spawnp(&child, run.python.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return fail(ErrorKind::failed, fmt::format("{}: {}", run.python, std::strerror(error)));
    const auto status = wait_for(child, run.deadline);
    if (!status)
        return fail(ErrorKind::failed, fmt::format("{} did not end within {} s", run.python,
                                                   run.deadline.count() / 1000));
    return WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
}

}  // namespace kvik::lab
