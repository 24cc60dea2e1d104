// kvik: the program. A table of verbs, and what is common to all of them.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "cli/flags/model_word.h"
#include "cli/model_choice.h"
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

// Verbs that Ollama and others have: what kvik has instead.
struct Elsewhere {
    std::string_view name, instead;
};
constexpr Elsewhere kElsewhere[] = {
    {"serve",
     "serve is not available in this version: kvik run and kvik chat load a model themselves"},
    {"ps",
     "kvik has no service that holds models: each kvik process loads its own, see ps -C kvik"},
    {"stop", "kvik has no service that holds models: a model is gone when its process ends"},
    {"rm", "kvik does not delete models: delete the file, or use the program that fetched it"},
    {"cp", "kvik keeps no models under names: copy the file"},
    {"create",
     "kvik has no Modelfiles: give --system, --temp and the like, or put them into "
     "~/.config/kvik/config.toml"},
    {"push", "kvik does not upload models"},
    {"signin", "kvik has no accounts; HF_TOKEN holds a token of Hugging Face"},
    {"signout", "kvik has no accounts; HF_TOKEN holds a token of Hugging Face"},
    {"launch", "kvik starts no other programs: kvik run and kvik chat are what it has"},
    {"server", "kvik has no server yet: kvik run and kvik chat load a model themselves"},
    {"llama-server", "kvik has no server yet: kvik run and kvik chat load a model themselves"},
    {"cli", "write kvik run or kvik chat: they take the flags of llama-cli, as kvik -m FILE does"},
    {"llama-cli", "leave the word out: kvik -m FILE -p TEXT takes the flags of llama-cli"},
    {"main", "leave the word out: kvik -m FILE -p TEXT takes the flags of llama-cli"},
    {"completion", "kvik run --raw completes a text"},
    {"llama-completion", "kvik run --raw completes a text"},
    {"llama-bench", "write kvik bench: it takes -p, -n, -d, -t and -r as llama-bench does"},
    {"llama-perplexity", "write kvik score -m MODEL -f FILE"},
    {"llama-tokenize", "write kvik tokenize -m MODEL -p TEXT"},
    {"embedding", "kvik makes no embeddings"},
    {"llama-embedding", "kvik makes no embeddings"},
    {"convert", "kvik reads GGUF files and Hugging Face directories as they are"},
    {"quantize", "kvik does not convert models: llama.cpp's llama-quantize makes GGUF files"},
    {"llama-quantize", "kvik does not convert models: take llama-quantize of llama.cpp itself"},
};
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"ls", "list"}, {"generate", "run"}, {"complete", "run"}, {"perplexity", "score"}};

std::string overview() {
    std::string text =
        "kvik VERB ... : a language model on this machine\n"
        "kvik MODEL : a conversation; kvik MODEL \"QUESTION\" : one answer\n\n";
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

const Verb* find_verb(std::string_view word) {
    for (const auto& [name, own_name] : kOtherNames)
        if (name == word) word = own_name;
    for (const Verb& verb : kVerbs)
        if (verb.name == word) return &verb;
    return nullptr;
}

bool is_flag_of_run(const std::string& word) {
    bool known = false;
    const auto look = [&](const Flags& flags) { known = flags.knows(word); };
    (void)run({.args = {}, .environment = from_process, .inspect = look});
    return known;
}

bool is_model(const std::string& word) {
    return may_be_model(word) || choose_model(word, from_process).has_value();
}

Error no_verb(std::string_view word) {
    std::vector<std::string> names;
    for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
    auto known = names;
    known.insert(known.end(), {"help", "--help", "--version"});
    const auto meant = nearest(word, known);
    return {ErrorKind::usage,
            fmt::format("'{}' is no verb of kvik and no model that is here: {}", word,
                        meant ? fmt::format("did you mean {}?", *meant)
                              : fmt::format("it has {}", fmt::join(names, ", ")))};
}

Result<int> dispatch(std::span<const std::string> args) {
    if (args.empty()) {
        note(overview());
        return static_cast<int>(ErrorKind::usage);
    }
    const std::string word = args.front() == "ls" ? "list" : args.front();
    if (word == "--version" || (word == "-v" && args.size() == 1)) {
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
    if (const auto verb = find_verb(word))
        return verb->act(
            {.args = args.subspan(1), .environment = from_process, .known_keys = known_keys});
    for (const Elsewhere& other : kElsewhere)
        if (other.name == word) return fail(ErrorKind::unsupported, std::string(other.instead));
    // `run` goes on as `chat` where there is nothing to ask.
    if (word.starts_with('-') ? is_flag_of_run(word) : is_model(word))
        return run({.args = args, .environment = from_process, .known_keys = known_keys});
    return tl::unexpected(no_verb(word));
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
    // A write beyond the limit on file sizes (ulimit -f) fails then as one to a full disk does.
    std::signal(SIGXFSZ, SIG_IGN);
    const std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
    return kvik::cli::run_program(args);
}
