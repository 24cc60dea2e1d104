#include "cli/prompt.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "cli/ids.h"
#include "cli/line_reader.h"
#include "cli/terminal.h"
#include "engine/session/chat_prompt.h"

namespace kvik::cli {
namespace {

constexpr std::string_view kStdin = "-";

bool stdin_may_hold_a_prompt() {
    struct stat status {};
    if (::fstat(STDIN_FILENO, &status) != 0) return false;
    return S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

// Whether the process that started this one has the same standard input. It does in a loop over the
// lines of a pipe (cat FILE | while read line; do kvik run M "$line"; done), in scripts, cron jobs and
// ssh, where nobody meant it for this program; in `cat FILE | kvik run M PROMPT` the shell keeps its
// own.
bool parent_has_this_stdin() {
    struct stat own {
    }, parents{};
    const std::string path = fmt::format("/proc/{}/fd/0", ::getppid());
    return ::fstat(STDIN_FILENO, &own) == 0 && ::stat(path.c_str(), &parents) == 0 &&
           own.st_dev == parents.st_dev && own.st_ino == parents.st_ino;
}

Result<std::string> read_stdin(Interrupts& interrupts) {
    std::string input;
    KVIK_TRY(const auto got, LineReader(STDIN_FILENO, &interrupts).rest(input));
    if (got == LineReader::Got::interrupt) return fail(ErrorKind::cancelled, "interrupted");
    return input;
}

}  // namespace

// Of \x41 and the like: the two digits; -1: there are none.
static int hex_value(std::string_view digits) {
    unsigned value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool is_whole = digits.size() == 2 && end == digits.data() + 2;
    return is_whole && error == std::errc() ? static_cast<int>(value) : -1;
}

// Another backslash stays.
std::string unescaped(std::string_view text) {
    static constexpr std::string_view kLetters = "ntr\"'\\", kMeant = "\n\t\r\"'\\";
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
        const size_t letter = next != '\0' ? kLetters.find(next) : std::string_view::npos;
        const int byte = next == 'x' ? hex_value(text.substr(i + 2, 2)) : -1;
        if (letter != std::string_view::npos) {
            out += kMeant[letter];
            i += 1;
        } else if (byte >= 0) {
            out += static_cast<char>(byte);
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string join_prompt(const std::optional<std::string>& argument, std::string_view input) {
    if (input.ends_with('\n')) input.remove_suffix(1);
    if (input.ends_with('\r')) input.remove_suffix(1);
    if (!argument) return std::string(input);
    return input.empty() ? *argument : fmt::format("{}\n\n{}", *argument, input);
}

Result<std::string> read_prompt(const PromptSource& source, Interrupts& interrupts) {
    std::optional<std::string> argument = source.argument, file = source.file;
    if (argument == kStdin) {
        if (file == kStdin) return fail(ErrorKind::usage, "stdin can be read once: give one -");
        argument.reset();
        if (file) return fail(ErrorKind::usage, "PROMPT is - and a file is given: give one");
        file = kStdin;
    }
    std::string input;
    if (file && file != kStdin) {
        KVIK_TRY(input, read_file(*file, &interrupts));
    } else if (file || (!argument && stdin_may_hold_a_prompt())) {
        KVIK_TRY(input, read_stdin(interrupts));
    } else if (!argument) {
        return fail(ErrorKind::usage,
                    "no prompt: give PROMPT, -p TEXT or -f FILE, or pipe it to stdin");
    }
    if (argument && source.is_flag && source.escapes == Escapes::of_flag)
        argument = unescaped(*argument);
    std::string prompt = join_prompt(argument, input);
    if (source.escapes == Escapes::all) prompt = unescaped(prompt);
    if (prompt.empty()) return fail(ErrorKind::usage, "the prompt is empty");
    return prompt;
}

void tell_if_stdin_is_left(const PromptSource& source) {
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    const bool is_read = !source.argument || source.argument == kStdin || source.file == kStdin;
    struct stat status {};
    if (is_read || !stdin_may_hold_a_prompt() || ::fstat(STDIN_FILENO, &status) != 0) return;
    // Of a file it counts whether somebody has begun to read it, as a loop has: some shells open it
    // before they start this program, and have it as their own stdin then.
    const bool is_file = S_ISREG(status.st_mode);
    if (is_file && (status.st_size == 0 || ::lseek(STDIN_FILENO, 0, SEEK_CUR) != 0)) return;
    if (!is_file && parent_has_this_stdin()) return;
    if (::poll(&waiting, 1, 0) != 1 || (waiting.revents & POLLIN) == 0) return;
    note_line("kvik: stdin is not read beside PROMPT: --prompt-file - adds it to the prompt");
}

Result<std::vector<TokenId>> encode_raw(const Engine& engine, std::string text, Specials specials) {
    if (engine.tokenizer() == nullptr) return tl::unexpected<Error>(engine.no_tokenizer());
    MarkedText marked{.text = std::move(text), .untrusted = {}};
    if (specials == Specials::as_text) marked.untrusted.push_back({0, marked.text.size()});
    return encode_prompt(*engine.tokenizer(), marked);
}

}  // namespace kvik::cli
