#include "cli/flags/options.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace kvik::cli {

void add_model(Flags& flags, std::string& path, std::optional<std::string>* system,
               ChosenModel* chosen) {
    const auto fetch = std::make_shared<FetchWish>();
    flags.set_model({.path = &path, .system = system, .fetch = fetch, .chosen = chosen});
    flags.heading("Model");
    flags.argument(
        {.name = "MODEL",
         .help = "a GGUF file, a Hugging Face directory, or a name that kvik list has; -m MODEL "
                 "is the same",
         .set = into(path),
         .flags = {"-m", "-hf"}});
    flags.add({.name = "-m",
               .value = "MODEL",
               .set = [&path, fetch](std::string_view text) -> Result<void> {
                   path = text;
                   fetch->is_asked = false;
                   return {};
               },
               .aliases = {"--model"},
               .standing = Standing::hidden});
    flags.add({.name = "-hf",
               .value = "OWNER/REPO[:QUANT]",
               .help = "the model, which is fetched from Hugging Face if it is not here",
               .set = [&path, fetch](std::string_view text) -> Result<void> {
                   path = fmt::format("{}{}", text.starts_with("hf:") ? "" : "hf:", text);
                   fetch->is_asked = true;
                   return {};
               },
               .aliases = {"-hfr", "--hf-repo"}});
    flags.add({.name = "--offline",
               .help = "ask no network: -hf takes what is here",
               .set = turn_on(fetch->is_offline),
               .settable = Settable::anywhere});
    flags.heading("Flags");
}

// llama.cpp has a type for K and one for V; here they are one.
static void add_cache_types(Flags& flags, EngineOptions& engine) {
    struct Types {
        std::optional<std::string> k, v;
    };
    const auto types = std::make_shared<Types>();
    const auto add = [&](const char* name, const char* alias,
                         std::optional<std::string> Types::*member) {
        flags.add({.name = name,
                   .value = "TYPE",
                   .set = [&engine, types, member](std::string_view text) -> Result<void> {
                       (*types).*member = std::string(text);
                       return choose(engine.kv_type, {{"f16", KvType::f16},
                                                      {"f32", KvType::f32},
                                                      {"q8_0", KvType::q8},
                                                      {"q8", KvType::q8}})(text);
                   },
                   .aliases = {alias},
                   .standing = Standing::hidden});
    };
    add("-ctk", "--cache-type-k", &Types::k);
    add("-ctv", "--cache-type-v", &Types::v);
    flags.check([types]() -> Result<void> {
        if (!types->k || !types->v || *types->k == *types->v) return {};
        return fail(ErrorKind::usage,
                    fmt::format("K is {} and V is {}, but kvik has one type for both: see --kv",
                                *types->k, *types->v));
    });
}

static Setter into_context(uint32_t& context) {
    return [&context](std::string_view text) -> Result<void> {
        if (text != "0") return into(context, {1, INT32_MAX})(text);
        context = kModelContext;
        return {};
    };
}

static Setter into_threads(EngineOptions& engine, std::vector<uint32_t>* several) {
    constexpr WholeRange kThreads = {1, 1024};
    return [&engine, several, kThreads](std::string_view text) -> Result<void> {
        if (text == "-1") {
            engine.n_threads = 0;
            if (several != nullptr) several->clear();
            return {};
        }
        return several != nullptr ? into(*several, kThreads)(text)
                                  : into(engine.n_threads, kThreads)(text);
    };
}

void add_engine_flags(Flags& flags, EngineOptions& engine, std::vector<uint32_t>* threads) {
    flags.heading("Engine");
    flags.add({.name = "--ctx",
               .value = "N",
               .help = "tokens a conversation may have (default: the model's, at most 8192; 0: the "
                       "model's)",
               .set = into_context(engine.context),
               .settable = Settable::anywhere,
               .aliases = {"-c", "--ctx-size"}});
    flags.add({.name = "--threads",
               .value = threads == nullptr ? "N" : "N,...",
               .help = "threads (default, and -1: the cores of the CPU quota)",
               .set = into_threads(engine, threads),
               .settable = Settable::anywhere,
               .aliases = {"-t"}});
    flags.add({.name = "--kv",
               .value = "TYPE",
               .help = "type of the KV cache: f16 (default), f32, or q8 (8 bits, half the memory)",
               .set = choose(engine.kv_type,
                             {{"f16", KvType::f16}, {"f32", KvType::f32}, {"q8", KvType::q8}}),
               .settable = Settable::anywhere});
    add_cache_types(flags, engine);
    flags.add({.name = "--cache-ram",
               .value = "SIZE",
               .help = "memory of all KV, such as 512M (default: 1G)",
               .set = into_bytes(engine.cache_bytes),
               .settable = Settable::anywhere});
    flags.add({.name = "--evict",
               .value = "POLICY",
               .help = "which cached KV goes first: cost (default: uses x time to compute it "
                       "again), lru, lfu, fifo",
               .set = choose(engine.evict, {{"cost", EvictionPolicy::cost},
                                            {"lru", EvictionPolicy::lru},
                                            {"lfu", EvictionPolicy::lfu},
                                            {"fifo", EvictionPolicy::fifo}}),
               .settable = Settable::anywhere});
    flags.add({.name = "--cache-dir",
               .value = "DIR",
               .help = "keep KV in files there too, for the next time",
               .set = into(engine.cache_folder),
               .settable = Settable::anywhere});
    flags.add({.name = "--cache-disk",
               .value = "SIZE",
               .help = "most bytes in --cache-dir, such as 2G (default: 8G)",
               .set = into_bytes(engine.disk_bytes),
               .settable = Settable::anywhere});
    flags.add({.name = "--block",
               .value = "N",
               .help = "tokens in a block of KV: 16, 32 (default) or 64",
               .set = choose(engine.block_tokens, {{"16", 16}, {"32", 32}, {"64", 64}}),
               .settable = Settable::anywhere});
    flags.add({.name = "--ubatch",
               .value = "N",
               .help = "most tokens of a prompt in one step (default: 512)",
               .set = into(engine.ubatch, {1, 8192}),
               .settable = Settable::anywhere,
               .aliases = {"-ub", "--ubatch-size"}});
    flags.add({.name = "--isa",
               .value = "NAME",
               .help = "instruction set: scalar, avx2, avx2-vnni, avx512 (default: best)",
               .set = into(engine.isa),
               .settable = Settable::anywhere});
    flags.add({.name = "--act",
               .value = "TYPE",
               .help = "number format of activations that quantised weights are multiplied with: "
                       "int8 (default) or f32",
               .set = [&engine](std::string_view text) -> Result<void> {
                   return choose(engine.act, {{"int8", "int8"}, {"f32", "f32"}})(text);
               },
               .settable = Settable::anywhere});
    flags.add({.name = "--calibrate",
               .value = "WHEN",
               .help = "measure what steps cost: on (default: in a pause, kept for later), "
                       "fresh (at the start), off",
               .set = choose(
                   engine.calibrate,
                   {{"on", Calibrate::on}, {"fresh", Calibrate::fresh}, {"off", Calibrate::off}}),
               .settable = Settable::anywhere});
}

void add_cache_switch(Flags& flags, EngineOptions& engine) {
    flags.heading("Engine");
    flags.add({.name = "--no-cache",
               .help = "compute every prompt from its start",
               .set = [&engine](std::string_view) -> Result<void> {
                   engine.cache = CachePolicy::off;
                   return {};
               },
               .settable = Settable::anywhere});
}

void add_answer_flags(Flags& flags, AnswerOptions& answer) {
    flags.heading("Answer");
    flags.add({.name = "-n",
               .value = "N",
               .help = "most tokens of an answer (default, and -1: until it ends or the context is "
                       "full)",
               .set = [&answer](std::string_view text) -> Result<void> {
                   // -2 is llama.cpp's word for "until the context is full".
                   if (text != "-1" && text != "-2")
                       return into(answer.max_new_tokens, {0, UINT32_MAX - 1})(text);
                   answer.max_new_tokens = UINT32_MAX;
                   return {};
               },
               .settable = Settable::anywhere,
               .aliases = {"--predict", "--n-predict"}});
    flags.add({.name = "--stop",
               .value = "TEXT",
               .help = "ends the answer before this text; up to 16 times",
               .set = [&answer](std::string_view text) -> Result<void> {
                   if (text.empty()) return fail(ErrorKind::usage, "a stop text is not empty");
                   if (answer.stop.size() == 16)
                       return fail(ErrorKind::usage, "at most 16 stop texts");
                   answer.stop.emplace_back(text);
                   return {};
               },
               .settable = Settable::anywhere,
               .times = Times::many,
               .aliases = {"-r", "--reverse-prompt"}});
    flags.add({.name = "--ignore-eos",
               .help = "end tokens do not end the answer",
               .set = [&answer](std::string_view) -> Result<void> {
                   answer.end_tokens = EndTokens::ignore;
                   return {};
               },
               .settable = Settable::anywhere});
}

// What the engine would refuse is refused here, by the same rule.
static Setter into_sampling(SamplingParams& sampling, float SamplingParams::*field) {
    return [&sampling, field](std::string_view text) -> Result<void> {
        SamplingParams changed = sampling;
        KVIK_TRY(changed.*field, parse_float(text));
        KVIK_TRY_VOID(validate(changed));
        sampling.*field = changed.*field;
        return {};
    };
}

// The penalties of llama.cpp see the last N tokens, kvik's see all: N makes no difference only where
// they are off, or where N is -1.
static void add_repeat_last_n(Flags& flags, SamplingParams& sampling) {
    const auto n = std::make_shared<std::string>("-1");
    flags.add(
        {.name = "--repeat-last-n", .value = "N", .set = into(*n), .standing = Standing::hidden});
    flags.check([n, &sampling]() -> Result<void> {
        const bool is_off = sampling.repeat_penalty == 1 && sampling.presence_penalty == 0 &&
                            sampling.frequency_penalty == 0;
        if (is_off || *n == "-1") return {};
        return fail(ErrorKind::usage,
                    fmt::format("--repeat-last-n {}: kvik's penalties see all tokens of the "
                                "context: write -1, or leave it out",
                                *n));
    });
}

void add_sampling_flags(Flags& flags, SamplingParams& sampling) {
    const auto real = [&](const char* name, const char* value, float SamplingParams::*field,
                          const char* help, std::vector<std::string> aliases = {}) {
        flags.add({.name = name,
                   .value = value,
                   .help = help,
                   .set = into_sampling(sampling, field),
                   .settable = Settable::anywhere,
                   .aliases = std::move(aliases)});
    };
    flags.heading("Sampling, in this order");
    real("--repeat-penalty", "X", &SamplingParams::repeat_penalty,
         "divides the logits of tokens seen (default: 1, off)");
    real("--presence-penalty", "X", &SamplingParams::presence_penalty,
         "subtracted from the logits of tokens seen (default: 0)");
    real("--frequency-penalty", "X", &SamplingParams::frequency_penalty,
         "subtracted for each time seen (default: 0)");
    add_repeat_last_n(flags, sampling);
    flags.add({.name = "--logit-bias",
               .value = "ID:B,...",
               .help = "added to the logits of tokens; -inf forbids one",
               .set = [&sampling](std::string_view text) { return set_logit_bias(text, sampling); },
               .settable = Settable::anywhere,
               .aliases = {"-l"}});
    real("--temp", "T", &SamplingParams::temperature,
         "temperature; 0 takes the likeliest (default: 0.7)", {"--temperature"});
    flags.add({.name = "--top-k",
               .value = "N",
               .help = "only the N likeliest tokens (default: 0, off)",
               .set = into(sampling.top_k, {0, INT32_MAX}),
               .settable = Settable::anywhere});
    real("--top-p", "P", &SamplingParams::top_p,
         "only the likeliest tokens that make up P (default: 1, off)");
    real("--min-p", "P", &SamplingParams::min_p,
         "only tokens with P of the likeliest one's probability (default: 0.05)");
    flags.add({.name = "--seed",
               .value = "N",
               .help = "of the random choices; the same seed gives the same answer (default, and "
                       "-1: another one each time)",
               .set = [&sampling](std::string_view text) -> Result<void> {
                   if (text == "-1") return {};
                   KVIK_TRY(sampling.seed, parse_whole(text, {0, UINT64_MAX}));
                   return {};
               },
               .settable = Settable::anywhere,
               .aliases = {"-s"}});
}

void add_draft_flag(Flags& flags) {
    flags.heading("Engine");
    flags.add({.name = "--draft",
               .value = "HOW",
               .help = "speculation: none (default) is all that this version has",
               .set = [](std::string_view text) -> Result<void> {
                   if (text == "none") return {};
                   return fail(
                       ErrorKind::unsupported,
                       fmt::format("'{}' is not available in this version, only none is", text));
               },
               .settable = Settable::anywhere});
}

void add_template_flag(Flags& flags, std::string& asked) {
    flags.add({.name = "--template",
               .value = "NAME|FILE",
               .help = "the chat template: one of the model's, one of kvik's own, or a file\n"
                       "(default: the model's tool_use where tools are given, else its default)",
               .set = into(asked),
               .aliases = {"--chat-template", "--chat-template-file"}});
}

void add_config_flags(Flags& flags, ConfigChoice& choice) {
    flags.heading("Configuration: arguments beat KVIK_* variables beat the file");
    flags.add({.name = "--config",
               .value = "FILE",
               .help = "instead of ~/.config/kvik/config.toml",
               .set = into(choice.file),
               .settable = Settable::anywhere});
    flags.add({.name = "--no-config", .help = "no file at all", .set = turn_on(choice.none)});
}

Result<void> set_logit_bias(std::string_view text, SamplingParams& sampling) {
    std::vector<std::pair<TokenId, float>> biases;
    for (const std::string_view part : split(text, ',')) {
        // llama.cpp writes ID+BIAS and ID-BIAS.
        const size_t sign = part.find_first_of(":+-");
        if (sign == std::string_view::npos)
            return fail(ErrorKind::usage, fmt::format("'{}' is not ID:BIAS", part));
        KVIK_TRY(const uint64_t id, parse_whole(part.substr(0, sign), {0, INT32_MAX}));
        KVIK_TRY(const float bias, parse_float(part.substr(part[sign] == '-' ? sign : sign + 1)));
        biases.emplace_back(static_cast<TokenId>(id), bias);
    }
    SamplingParams changed = sampling;
    changed.logit_bias = std::move(biases);
    KVIK_TRY_VOID(validate(changed));
    sampling.logit_bias = std::move(changed.logit_bias);
    return {};
}

}  // namespace kvik::cli
