#include <fmt/format.h>

#include "cli/json.h"
#include "cli/pull_model.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace kvik::cli {

Result<int> pull(const Call& call) {
    PullWish wish;
    bool json = false;
    Flags flags("pull", "Fetches a model from Hugging Face into its cache. Prints the path.");
    flags.argument({.name = "MODEL",
                    .help =
                        "hf:OWNER/REPO, with :QUANT (such as :Q8_0) or /FILE.gguf for one GGUF of "
                        "several (default: Q4_K_M)",
                    .set = into(wish.name)});
    flags.add({.name = "--revision",
               .value = "REV",
               .help = "a branch, tag or commit (default: main); hf:OWNER/REPO@REV is the same",
               .set = into(wish.revision)});
    flags.add({.name = "--timeout",
               .value = "S",
               .help = "seconds without a byte, after which it connects anew (default: 30)",
               .set = into(wish.silence_s, {1, 3600})});
    flags.add({.name = "--offline",
               .help = "ask no network: an error here, as nothing else in kvik asks one",
               .set = turn_on(wish.offline),
               .settable = Settable::anywhere});
    flags.add({.name = "--json", .help = "one JSON object", .set = turn_on(json)});
    flags.epilogue(
        "HF_TOKEN, or the file HF_HOME/token, opens what is private or gated. HF_ENDPOINT names\n"
        "another server than https://huggingface.co; HF_HOME or HF_HUB_CACHE another folder than\n"
        "~/.cache/huggingface. What was cut off, by Ctrl-C too, goes on where it stopped.\n");
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    Interrupts interrupts;
    KVIK_TRY(const hub::PulledModel pulled, pull_model(wish, call.environment, interrupts));
    if (json) {
        KVIK_TRY_VOID(put(to_line({{"name", pulled.name},
                                   {"path", pulled.path},
                                   {"commit", pulled.commit},
                                   {"files", pulled.n_files},
                                   {"bytes", pulled.bytes},
                                   {"fetched_bytes", pulled.fetched_bytes}})));
        return 0;
    }
    KVIK_TRY_VOID(put(pulled.path + "\n"));
    note(fmt::format("kvik: {} ({}), now: kvik chat {}\n",
                     pulled.fetched_bytes > 0 ? "fetched" : "it was here already",
                     human_bytes(pulled.bytes), printable(pulled.name)));
    return 0;
}

}  // namespace kvik::cli
