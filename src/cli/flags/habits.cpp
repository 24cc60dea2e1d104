#include "cli/flags/habits.h"

#include <fmt/format.h>

namespace kvik::cli {
namespace {

constexpr auto idle = HabitKind::idle;
constexpr auto silent = HabitKind::silent;
constexpr auto refused = HabitKind::refused;

constexpr std::string_view kSwitch = "";
constexpr std::string_view kOnOff = "on|off|auto|0|1|true|false";

// Why an idle one changes nothing.
constexpr std::string_view kCpu = "kvik computes on the CPU";
constexpr std::string_view kLoading =
    "kvik packs weights anew as it loads them, into its own memory";
constexpr std::string_view kThreading = "--threads is all that kvik has for its threads";
constexpr std::string_view kBatching = "kvik plans its batches itself, see --ubatch";
constexpr std::string_view kOneAnswer = "see --samples for several answers";
constexpr std::string_view kCaching = "kvik's cache decides that by itself";
constexpr std::string_view kNoWarmup = "kvik needs no run to warm up";
constexpr std::string_view kLogging = "kvik writes no log";
constexpr std::string_view kPrinting =
    "kvik prints the answer, and nothing else, to standard output";
constexpr std::string_view kColour = "at a terminal kvik has colours unless NO_COLOR is set";
constexpr std::string_view kKeepAlive = "a model is gone when its process ends";
constexpr std::string_view kSecure = "kvik checks certificates whenever it fetches a model";

// What a refused one says.
constexpr std::string_view kSamplers =
    "kvik has no such sampler: it has --temp, --top-k, --top-p, --min-p and the penalties";
constexpr std::string_view kOrder =
    "the order of the samplers is fixed: penalties, bias, temperature, top-k, top-p, min-p";
constexpr std::string_view kGrammar =
    "kvik cannot hold answers to a grammar; --json prints an object about the answer";
constexpr std::string_view kRope = "positions are computed as the model file says: leave it out";
constexpr std::string_view kText = "kvik reads and writes text only: leave it out";
constexpr std::string_view kAdapters = "kvik applies no adapters: merge it into the model first";
constexpr std::string_view kDraft = "kvik has no speculative decoding: leave it out";
constexpr std::string_view kReasoning =
    "kvik shows all that the model writes; `kvik template` takes variables such as enable_thinking";
constexpr std::string_view kDisk = "--cache-dir DIR keeps the KV cache on disk";
constexpr std::string_view kFetch = "kvik takes model files, directories and -hf OWNER/REPO";
constexpr std::string_view kRemote = "kvik computes on this machine only: leave it out";
constexpr std::string_view kPrefix = "the model's chat template marks messages; --raw goes without";

constexpr Habit kHabits[] = {
    // Where and how llama.cpp computes.
    {idle, "-ngl --gpu-layers --n-gpu-layers", "N", kCpu},
    {idle, "-fa --flash-attn", kOnOff, kCpu},
    {idle, "--mlock", kSwitch, kLoading},
    {idle, "--mmap", kSwitch, kLoading},
    {idle, "--no-mmap", kSwitch, kLoading},
    {idle, "-dio --direct-io", kSwitch, kLoading},
    {idle, "-lm --load-mode", "MODE", kLoading},
    {idle, "-lzm --lazy-mode", "MODE", kLoading},
    {idle, "--numa", "TYPE", kThreading},
    {idle, "-dev --device", "DEVICES", kCpu},
    {idle, "-ot --override-tensor", "PATTERN", kCpu},
    {idle, "-cmoe --cpu-moe", kSwitch, kCpu},
    {idle, "-ncmoe --n-cpu-moe", "N", kCpu},
    {idle, "--moe-cache-mib", "N", kCpu},
    {idle, "-ncffn --n-cpu-ffn", "N", kCpu},
    {idle, "-sm --split-mode", "MODE", kCpu},
    {idle, "-ts --tensor-split", "N,...", kCpu},
    {idle, "-mg --main-gpu", "N", kCpu},
    {idle, "-fit --fit", kOnOff, kCpu},
    {idle, "-fitt --fit-target", "MIB", kCpu},
    {idle, "-fitc --fit-ctx", "N", kCpu},
    {idle, "--op-offload", kSwitch, kCpu},
    {idle, "--no-op-offload", kSwitch, kCpu},
    {idle, "-kvo --kv-offload", kSwitch, kCpu},
    {idle, "-nkvo --no-kv-offload", kSwitch, kCpu},
    {idle, "--repack", kSwitch, kLoading},
    {idle, "-nr --no-repack", kSwitch, kLoading},
    {idle, "--no-host", kSwitch, kLoading},
    {idle, "-dt --defrag-thold", "N", kCaching},
    {idle, "-np --parallel", "N", kOneAnswer},
    {idle, "-b --batch-size", "N", kBatching},
    {idle, "-tb --threads-batch", "N", kThreading},
    {idle, "-C --cpu-mask", "M", kThreading},
    {idle, "-Cr --cpu-range", "LO-HI", kThreading},
    {idle, "--cpu-strict", "0|1", kThreading},
    {idle, "--prio", "N", kThreading},
    {idle, "--poll", "N", kThreading},
    {idle, "-Cb --cpu-mask-batch", "M", kThreading},
    {idle, "-Crb --cpu-range-batch", "LO-HI", kThreading},
    {idle, "--cpu-strict-batch", "0|1", kThreading},
    {idle, "--prio-batch", "N", kThreading},
    {idle, "--poll-batch", "0|1", kThreading},
    {idle, "--keep", "N", kCaching},
    {idle, "--swa-full", kSwitch, kCaching},
    {idle, "-ctxcp --ctx-checkpoints --swa-checkpoints", "N", kCaching},
    {idle, "--warmup", kSwitch, kNoWarmup},
    {idle, "--no-warmup", kSwitch, kNoWarmup},
    {idle, "-bs --backend-sampling", kSwitch, kCpu},
    // What is printed.
    {idle, "-v --log-verbose", kSwitch, kLogging},
    {idle, "-lv --verbosity --log-verbosity", "N", kLogging},
    {idle, "--verbose-prompt", kSwitch, kPrinting},
    {idle, "--display-prompt", kSwitch, kPrinting},
    {idle, "-co --color", kOnOff, kColour},
    {idle, "-sp --special", kSwitch, kPrinting},
    {idle, "-ptc --print-token-count", "N", kPrinting},
    {idle, "--log-file", "FILE", kLogging},
    {idle, "--log-jsonl", kSwitch, kLogging},
    {idle, "--log-prompts-dir", "DIR", kLogging},
    {idle, "--log-colors", kOnOff, kLogging},
    {idle, "--log-prefix", kSwitch, kLogging},
    {idle, "--log-timestamps", kSwitch, kLogging},
    {silent, "--no-display-prompt", kSwitch},
    {silent, "--no-show-timings", kSwitch},
    {silent, "--no-perf", kSwitch},
    {silent, "--log-disable", kSwitch},
    {silent, "--no-log-jsonl", kSwitch},
    {silent, "--no-log-prefix", kSwitch},
    {silent, "--no-log-timestamps", kSwitch},
    {silent, "--simple-io", kSwitch},
    {silent, "-mli --multiline-input", kSwitch},
    {silent, "--jinja", kSwitch},
    {silent, "--no-context-shift", kSwitch},
    {silent, "--no-mmproj --no-mmproj-auto", kSwitch},
    {silent, "--no-mmproj-offload", kSwitch},
    {silent, "--mmproj-auto", kSwitch},
    {silent, "--mmproj-offload", kSwitch},
    {silent, "--skip-chat-parsing", kSwitch},
    {silent, "--no-skip-chat-parsing", kSwitch},
    // What kvik has under another name, or not.
    {refused, "--version", kSwitch, "it stands alone: kvik --version"},
    {refused, "-cl --cache-list", kSwitch, "kvik list names the models that are here"},
    {refused, "--completion-bash", kSwitch, "kvik brings no completions for shells"},
    {refused, "--server-base", "URL", kRemote},
    {refused, "--rpc", "SERVERS", kRemote, ""},
    {refused, "--list-devices", kSwitch, "kvik doctor says what this machine has"},
    {refused, "--check-tensors", kSwitch, "kvik show --check MODEL reads every weight"},
    {refused, "--override-kv", "KEY=TYPE:VALUE", "kvik computes what the model file says"},
    {refused, "--context-shift", kSwitch,
     "kvik chat --overflow truncate leaves the oldest messages out of a full context"},
    {refused, "-cram", "MIB", "write --cache-ram 512M"},
    {refused, "-sysf --system-prompt-file", "FILE", "write --system \"$(cat FILE)\""},
    {refused, "-bf --binary-file", "FILE", "-f FILE reads a prompt from a file"},
    {refused, "--prompt-cache", "FILE", kDisk},
    {refused, "--prompt-cache-all", kSwitch, kDisk},
    {refused, "--prompt-cache-ro", kSwitch, kDisk},
    {refused, "--in-prefix-bos", kSwitch, kPrefix},
    {refused, "--in-prefix", "TEXT", kPrefix},
    {refused, "--in-suffix", "TEXT", kPrefix},
    {refused, "--samplers", "NAMES", kOrder},
    {refused, "--sampler-seq --sampling-seq", "LETTERS", kOrder},
    {refused, "--top-nsigma --top-n-sigma", "N", kSamplers, "-1"},
    {refused, "--xtc-probability", "N", kSamplers, "0"},
    {refused, "--xtc-threshold", "N", kSamplers, "1"},
    {refused, "--typical --typical-p", "N", kSamplers, "1"},
    {refused, "--dry-multiplier", "N", kSamplers, "0"},
    {refused, "--dry-base", "N", kSamplers},
    {refused, "--dry-allowed-length", "N", kSamplers},
    {refused, "--dry-penalty-last-n", "N", kSamplers, "0"},
    {refused, "--dry-sequence-breaker", "TEXT", kSamplers, "none"},
    {refused, "--adaptive-target", "N", kSamplers, "-1"},
    {refused, "--adaptive-decay", "N", kSamplers},
    {refused, "--dynatemp-range", "N", kSamplers, "0"},
    {refused, "--dynatemp-exp", "N", kSamplers},
    {refused, "--mirostat", "N", kSamplers, "0"},
    {refused, "--mirostat-lr", "N", kSamplers},
    {refused, "--mirostat-ent", "N", kSamplers},
    {refused, "--grammar", "GRAMMAR", kGrammar},
    {refused, "--grammar-file", "FILE", kGrammar},
    {refused, "-j --json-schema", "SCHEMA", kGrammar},
    {refused, "-jf --json-schema-file", "FILE", kGrammar},
    {refused, "--rope-scaling", "TYPE", kRope},
    {refused, "--rope-scale", "N", kRope},
    {refused, "--rope-freq-base", "N", kRope, "0"},
    {refused, "--rope-freq-scale", "N", kRope},
    {refused, "--yarn-orig-ctx", "N", kRope, "0"},
    {refused, "--yarn-ext-factor", "N", kRope, "-1"},
    {refused, "--yarn-attn-factor", "N", kRope, "-1"},
    {refused, "--yarn-beta-slow", "N", kRope, "-1"},
    {refused, "--yarn-beta-fast", "N", kRope, "-1"},
    {refused, "-gan --grp-attn-n", "N", kRope, "1"},
    {refused, "-gaw --grp-attn-w", "N", kRope},
    {refused, "-mm --mmproj", "FILE", kText},
    {refused, "-mmu --mmproj-url", "URL", kText},
    {refused, "-mmdev --mmproj-device", "DEVICE", kText},
    {refused, "--image --audio --video", "FILE", kText},
    {refused, "--image-min-tokens", "N", kText},
    {refused, "--image-max-tokens", "N", kText},
    {refused, "--video-fps", "N", kText},
    {refused, "--video-timestamp-interval", "N", kText},
    {refused, "--video-ffmpeg-dir", "DIR", kText},
    {refused, "--lora", "FILE", kAdapters},
    {refused, "--lora-scaled", "FILE:SCALE", kAdapters},
    {refused, "--control-vector", "FILE", kAdapters},
    {refused, "--control-vector-scaled", "FILE:SCALE", kAdapters},
    {refused, "--control-vector-layer-range", "FROM", kAdapters},
    {refused, "-mu --model-url", "URL", kFetch},
    {refused, "-dr --docker-repo", "REPO", kFetch},
    {refused, "-hff --hf-file", "FILE", "write -hf OWNER/REPO/FILE"},
    {refused, "-hft --hf-token", "TOKEN", "the variable HF_TOKEN holds it, out of others' sight"},
    {refused, "-o --output --output-file", "FILE", "the answer goes to stdout: write > FILE"},
    {refused, "--chat-template-kwargs", "JSON", "`kvik template` takes variables of the template"},
    {refused, "--no-jinja", kSwitch, "chat templates are always run; --raw goes without one"},
    {refused, "--reasoning-format", "FORMAT", kReasoning, "none"},
    {refused, "-rea --reasoning", kOnOff, kReasoning, "auto"},
    {refused, "--reasoning-effort", "LEVEL", kReasoning},
    {refused, "--reasoning-budget", "N", kReasoning, "-1"},
    {refused, "--reasoning-budget-message", "TEXT", kReasoning},
    {refused, "--reasoning-preserve", kSwitch, kReasoning},
    {refused, "--no-reasoning-preserve", kSwitch, kReasoning},
    // Speculative decoding.
    {refused, "--spec-draft-hf -hfd -hfrd --hf-repo-draft", "REPO", kDraft},
    {refused, "--spec-draft-threads -td --threads-draft", "N", kDraft},
    {refused, "--spec-draft-threads-batch -tbd --threads-batch-draft", "N", kDraft},
    {refused, "--spec-draft-cpu-mask -Cd --cpu-mask-draft", "M", kDraft},
    {refused, "--spec-draft-cpu-range -Crd --cpu-range-draft", "LO-HI", kDraft},
    {refused, "--spec-draft-cpu-strict --cpu-strict-draft", "N", kDraft},
    {refused, "--spec-draft-prio --prio-draft", "N", kDraft},
    {refused, "--spec-draft-poll --poll-draft", "N", kDraft},
    {refused, "--spec-draft-cpu-mask-batch -Cbd --cpu-mask-batch-draft", "M", kDraft},
    {refused, "--spec-draft-cpu-strict-batch --cpu-strict-batch-draft", "N", kDraft},
    {refused, "--spec-draft-prio-batch --prio-batch-draft", "N", kDraft},
    {refused, "--spec-draft-poll-batch --poll-batch-draft", "N", kDraft},
    {refused, "--spec-draft-type-k -ctkd --cache-type-k-draft", "TYPE", kDraft},
    {refused, "--spec-draft-type-v -ctvd --cache-type-v-draft", "TYPE", kDraft},
    {refused, "--spec-draft-override-tensor -otd --override-tensor-draft", "PATTERN", kDraft},
    {refused, "--spec-draft-cpu-moe -cmoed --cpu-moe-draft", kSwitch, kDraft},
    {refused, "--spec-draft-n-cpu-moe --spec-draft-ncmoe -ncmoed --n-cpu-moe-draft", "N", kDraft},
    {refused, "--spec-draft-n-max", "N", kDraft},
    {refused, "--spec-draft-n-min", "N", kDraft},
    {refused, "--spec-synth-len", "L", kDraft},
    {refused, "--spec-synth-rates", "P,...", kDraft},
    {refused, "--spec-draft-p-split --draft-p-split", "P", kDraft},
    {refused, "--spec-draft-p-min --draft-p-min", "P", kDraft},
    {refused, "--spec-draft-backend-sampling", kSwitch, kDraft},
    {refused, "--no-spec-draft-backend-sampling", kSwitch, kDraft},
    {refused, "--spec-draft-sampling", "HOW", kDraft},
    {refused, "--spec-draft-device -devd --device-draft", "DEVICES", kDraft},
    {refused, "--spec-draft-ngl -ngld --gpu-layers-draft --n-gpu-layers-draft", "N", kDraft},
    {refused, "--spec-draft-model -md --model-draft", "FILE", kDraft},
    {refused, "--spec-type", "TYPE", kDraft, "none"},
    {refused, "--spec-ngram-mod-n-min", "N", kDraft},
    {refused, "--spec-ngram-mod-n-max", "N", kDraft},
    {refused, "--spec-ngram-mod-n-match", "N", kDraft},
    {refused, "--spec-ngram-simple-size-n", "N", kDraft},
    {refused, "--spec-ngram-simple-size-m", "N", kDraft},
    {refused, "--spec-ngram-simple-min-hits", "N", kDraft},
    {refused, "--spec-ngram-map-k-size-n", "N", kDraft},
    {refused, "--spec-ngram-map-k-size-m", "N", kDraft},
    {refused, "--spec-ngram-map-k-min-hits", "N", kDraft},
    {refused, "--spec-ngram-map-k4v-size-n", "N", kDraft},
    {refused, "--spec-ngram-map-k4v-size-m", "N", kDraft},
    {refused, "--spec-ngram-map-k4v-min-hits", "N", kDraft},
    {refused, "--draft-n --draft-max", "N", kDraft, "0"},
    {refused, "--draft-min --draft-n-min", "N", kDraft, "0"},
    {refused, "--spec-default", kSwitch, kDraft},
    {refused, "--gpt-oss-20b-default", kSwitch, kFetch},
    {refused, "--gpt-oss-120b-default", kSwitch, kFetch},
    {refused, "--vision-gemma-4b-default", kSwitch, kFetch},
    {refused, "--vision-gemma-12b-default", kSwitch, kFetch},
    // Of `ollama run`.
    {idle, "--keepalive", "TIME", kKeepAlive},
    {idle, "--insecure", kSwitch, kSecure},
    {refused, "--format", "json", kGrammar},
    {refused, "--think", "true|false|high|medium|low", kReasoning},
    {refused, "--hidethinking", kSwitch, kReasoning},
    {refused, "--dimensions", "N", "kvik makes no embeddings"},
    {refused, "--truncate", kSwitch,
     "kvik chat --overflow truncate leaves the oldest messages out of a full context"},
};

// Of llama-bench, where -fa, -mmp and the like take a value.
constexpr std::string_view kSeparate =
    "kvik measures prompts (-p) and decoding (-n) apart; -d N decodes after N tokens of context";
constexpr std::string_view kFormats = "kvik has md, a table, and json";
constexpr Habit kBenchHabits[] = {
    {idle, "-ngl --n-gpu-layers", "N", kCpu},
    {idle, "-ncmoe --n-cpu-moe", "N", kCpu},
    {idle, "-sm --split-mode", "MODE", kCpu},
    {idle, "-mg --main-gpu", "N", kCpu},
    {idle, "-ts --tensor-split", "N", kCpu},
    {idle, "-dev --device", "DEVICES", kCpu},
    {idle, "-nkvo --no-kv-offload", "N", kCpu},
    {idle, "-nopo --no-op-offload", "N", kCpu},
    {idle, "-ot --override-tensor --override-tensors", "PATTERN", kCpu},
    {idle, "-fa --flash-attn", "N", kCpu},
    {idle, "-fitt --fit-target", "MIB", kCpu},
    {idle, "-fitc --fit-ctx", "N", kCpu},
    {idle, "-mmp --mmap", "N", kLoading},
    {idle, "-dio --direct-io", "N", kLoading},
    {idle, "--no-host", "N", kLoading},
    {idle, "--numa", "TYPE", kThreading},
    {idle, "-C --cpu-mask", "M", kThreading},
    {idle, "--cpu-strict", "N", kThreading},
    {idle, "--poll", "N", kThreading},
    {idle, "--prio", "N", kThreading},
    {idle, "--delay", "N", "kvik runs the tests by turns, without pauses"},
    {idle, "--no-warmup", kSwitch, kNoWarmup},
    {idle, "-v --verbose", kSwitch, kLogging},
    {silent, "--progress", kSwitch},
    {refused, "-pg", "PP,TG", kSeparate},
    {refused, "-embd --embeddings", "N", "kvik makes no embeddings", "0"},
    {refused, "-oe --output-err", "FORMAT", kFormats, "none"},
    {refused, "--rpc", "SERVERS", kRemote, ""},
    {refused, "--list-devices", kSwitch, "kvik doctor says what this machine has"},
};

std::vector<std::string> words_of(std::string_view text, char separator) {
    std::vector<std::string> words;
    for (const std::string_view word : split(text, separator)) words.emplace_back(word);
    return words;
}

Setter setter_of(const Habit& habit) {
    return [habit](std::string_view text) -> Result<void> {
        const bool is_off = !habit.off.empty() && text == habit.off;
        if (habit.kind != HabitKind::refused || is_off) return {};
        return fail(ErrorKind::usage, std::string(habit.told));
    };
}

}  // namespace

std::span<const Habit> all_habits() {
    return kHabits;
}

std::span<const Habit> bench_habits() {
    return kBenchHabits;
}

static void add(Flags& flags, std::span<const Habit> habits) {
    for (const Habit& habit : habits) {
        std::vector<std::string> names;
        for (std::string& name : words_of(habit.names, ' '))
            if (!flags.knows(name)) names.push_back(std::move(name));
        if (names.empty()) continue;
        Flag flag = {.name = names.front(),
                     .value = std::string(habit.value),
                     .set = setter_of(habit),
                     .aliases = {names.begin() + 1, names.end()},
                     .standing = habit.kind == HabitKind::idle ? Standing::idle : Standing::hidden,
                     .why = std::string(habit.told)};
        if (habit.value.find('|') != std::string_view::npos)
            flag.words = words_of(habit.value, '|');
        flags.add(std::move(flag));
    }
}

void add_habits(Flags& flags) {
    add(flags, kHabits);
}

void add_bench_habits(Flags& flags) {
    add(flags, kBenchHabits);
}

}  // namespace kvik::cli
