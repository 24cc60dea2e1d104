// kvik: the program. A table of verbs, and what is common to all of them.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "cli/report.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace kvik::cli {
namespace {

struct Verb {
    std::string_view name;
    std::string_view summary;
    Result<int> (*act)(const Call&);
};

constexpr Verb kVerbs[] = {
    {"run", "one answer", run},
    {"chat", "a conversation", chat},
    {"list", "models that are already here: Ollama's, LM Studio's, Hugging Face's", list},
    {"pull", "fetch a model from Hugging Face", pull},
    {"show", "what a model file holds, and the memory it needs", show},
    {"tokenize", "text to token ids and back", tokenize},
    {"template", "messages as the model's chat template writes them", render_template},
    {"score", "log-probability of every token of a text, perplexity", score},
    {"bench", "how fast a model runs here", bench},
    {"doctor", "what this machine has, and what kvik makes of it", doctor},
    {"fsck", "whether KV on disk is sound", fsck},
    {"lab", "experiments, as tables, plots and a page", lab},
};
constexpr std::array<std::string_view, 1> kLaterVerbs = {"serve"};

std::string overview() {
    std::string text = "kvik VERB ... : a language model on this machine\n\n";
    for (const Verb& verb : kVerbs) text += fmt::format("  {:<10}{}\n", verb.name, verb.summary);
    text +=
        "\nkvik VERB --help lists a verb's flags; kvik --version.\n"
        "Flags beat KVIK_* variables beat ~/.config/kvik/config.toml.\n"
        "Exit status: 0 done, 1 failed, 2 misuse, 3 file, 4 memory, 5 port, 6 not supported,\n"
        "7 prompt longer than the context, 130 Ctrl-C.\n";
    return text;
}

std::optional<std::string> from_process(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
}

std::vector<VerbKeys> known_keys() {
    std::vector<VerbKeys> all;
    const auto keep = [&all](const Flags& flags) { all.push_back(flags.keys()); };
    for (const Verb& verb : kVerbs)
        (void)verb.act({.args = {}, .environment = from_process, .inspect = keep});
    return all;
}

Result<void> end_after(std::span<const std::string> args, size_t n_words) {
    if (args.size() <= n_words) return {};
    return fail(ErrorKind::usage,
                fmt::format("unexpected argument '{}' after {}", args[n_words], args[n_words - 1]));
}

Result<int> dispatch(std::span<const std::string> args) {
    if (args.empty()) {
        note(overview());
        return static_cast<int>(ErrorKind::usage);
    }
    const std::string word = args.front() == "ls" ? "list" : args.front();
    if (word == "--version") {
        KVIK_TRY_VOID(end_after(args, 1));
        KVIK_TRY_VOID(put("kvik " KVIK_VERSION "\n"));
        return 0;
    }
    if (word == "--help" || word == "-h" || (word == "help" && args.size() == 1)) {
        KVIK_TRY_VOID(end_after(args, 1));
        KVIK_TRY_VOID(put(overview()));
        return 0;
    }
    if (word == "help") {
        KVIK_TRY_VOID(end_after(args, 2));
        const std::array<std::string, 2> asked = {args[1], "--help"};
        return dispatch(asked);
    }
    std::vector<std::string> names;
    for (const Verb& verb : kVerbs) {
        if (verb.name == word)
            return verb.act(
                {.args = args.subspan(1), .environment = from_process, .known_keys = known_keys});
        names.emplace_back(verb.name);
    }
    if (std::find(kLaterVerbs.begin(), kLaterVerbs.end(), word) != kLaterVerbs.end())
        return fail(ErrorKind::unsupported,
                    fmt::format("{} is not available in this version", word));
    auto known = names;
    known.insert(known.end(), {"help", "--help", "--version"});
    const auto meant = nearest(word, known);
    return fail(ErrorKind::usage,
                fmt::format("'{}' is no verb of kvik: {}", word,
                            meant ? fmt::format("did you mean {}?", *meant)
                                  : fmt::format("it has {}", fmt::join(names, ", "))));
}

ErrorFormat format_of(std::span<const std::string> args) {
    const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
    return json ? ErrorFormat::json : ErrorFormat::text;
}

// A file must never be opened as descriptor 0, 1 or 2 and then be taken for stdin or stdout. What
// stands in for a closed one fails when used.
void fill_standard_descriptors() {
    for (int fd = 0; fd <= 2; ++fd)
        if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int run_program(std::span<const std::string> args) {
    try {
        const auto done = dispatch(args);
        if (const auto written = finish_put(); done && !written)
            return report(written.error(), format_of(args));
        return done ? *done : report(done.error(), format_of(args));
    } catch (const std::bad_alloc&) {
        return report({ErrorKind::memory, "out of memory: lower --ctx or --cache-ram"},
                      format_of(args));
    }
}

}  // namespace
}  // namespace kvik::cli

int main(int argc, char** argv) {
    kvik::cli::fill_standard_descriptors();
    const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
    return kvik::cli::run_program(args);
}
