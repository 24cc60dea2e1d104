#include "cli/prompt.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/line_reader.h"
#include "cli/terminal.h"
#include "engine/chat_prompt.h"

namespace kvik::cli {
namespace {

bool stdin_may_hold_a_prompt() {
    struct stat status {};
    if (::fstat(STDIN_FILENO, &status) != 0) return false;
    return S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

// A pipe that somebody holds open without writing would wait for ever: say what is waited for.
void say_if_it_waits() {
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    if (::poll(&waiting, 1, 3000) == 0)
        note(
            "kvik: waiting for the rest of the prompt on stdin (`< /dev/null` if there is none)\n");
}

}  // namespace

std::string join_prompt(const std::optional<std::string>& argument, std::string_view input) {
    if (input.ends_with('\n')) input.remove_suffix(1);
    if (input.ends_with('\r')) input.remove_suffix(1);
    if (!argument) return std::string(input);
    return input.empty() ? *argument : fmt::format("{}\n\n{}", *argument, input);
}

Result<std::string> read_prompt(const std::optional<std::string>& argument,
                                Interrupts& interrupts) {
    std::string input;
    if (stdin_may_hold_a_prompt()) {
        if (argument) say_if_it_waits();
        KVIK_TRY(const auto got, LineReader(STDIN_FILENO, &interrupts).rest(input));
        if (got == LineReader::Got::interrupt) return fail(ErrorKind::cancelled, "interrupted");
    } else if (!argument) {
        return fail(ErrorKind::usage, "no prompt: give it as an argument or on stdin");
    }
    std::string prompt = join_prompt(argument, input);
    if (prompt.empty()) return fail(ErrorKind::usage, "the prompt is empty");
    return prompt;
}

Result<std::vector<TokenId>> encode_raw(const Engine& engine, std::string text, Specials specials) {
    if (engine.tokenizer() == nullptr)
        return fail(ErrorKind::unsupported,
                    "the model has no tokenizer: it takes token ids only (run --ids)");
    MarkedText marked{.text = std::move(text), .untrusted = {}};
    if (specials == Specials::as_text) marked.untrusted.push_back({0, marked.text.size()});
    return encode_prompt(*engine.tokenizer(), marked);
}

}  // namespace kvik::cli
