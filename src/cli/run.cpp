#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "cli/flags/run_flags.h"
#include "cli/json.h"
#include "cli/kv_report_text.h"
#include "cli/local_time.h"
#include "cli/prompt.h"
#include "cli/reply.h"
#include "cli/several.h"
#include "cli/terminal.h"
#include "cli/text_side.h"
#include "cli/verbs.h"
#include "cli/word_wrap.h"

namespace kvik::cli {
namespace {

Result<void> check_together(const RunOptions& options) {
    const auto refuse = [](const char* message) { return fail(ErrorKind::usage, message); };
    if (options.ids && options.prompt.is_given()) return refuse("give --ids or a prompt, not both");
    if (options.system && options.ids) return refuse("--system has no place with --ids");
    if (options.system && options.raw) return refuse("--system has no place with --raw");
    const bool chats = options.conversation || !options.engine.chat_template.empty();
    if (chats && (options.raw || options.ids))
        return refuse("--conversation and --template have no place with --raw and --ids");
    if (options.logits_hash && !options.json) return refuse("--logits-hash needs --json");
    return check_several(options.several);
}

// Whether kvik's own template is used because the model has none and none was asked for.
bool is_borrowed(const RunOptions& options, const Engine& engine) {
    return options.engine.chat_template.empty() && engine.used().template_source == "builtin";
}

// A model that was not made to chat goes on with the text, unless it is told to talk. Where the
// tokenizer cannot be used no template was looked for, and there is no text to go on with.
bool completes(const RunOptions& options, const Engine& engine) {
    const bool has_none = engine.tokenizer() && engine.used().template_source == "none";
    return (has_none || is_borrowed(options, engine)) && !options.conversation && !options.system;
}

std::string describe_completion(const Engine& engine) {
    const std::string& name = engine.used().template_name;
    const std::string otherwise =
        name.empty() ? "--template NAME|FILE chats"
                     : fmt::format("--conversation chats by kvik's own, {}", printable(name));
    return "the model has no chat template, it was maybe not made to chat: it completes the prompt "
           "(" +
           otherwise + ")";
}

// Asked for, or what somebody at a terminal means who gives a model and nothing to ask.
bool is_conversation(const RunOptions& options) {
    if (options.wants_chat || options.resumes) return true;
    const bool has_prompt = options.prompt.is_given() || options.ids;
    const bool is_plain = !options.raw && !options.json && !options.several.n_samples;
    return !has_prompt && is_plain && is_terminal(STDIN_FILENO);
}

Result<std::vector<TokenId>> encode_prompt(const RunOptions& options, const Engine& engine,
                                           const std::string& text) {
    if (options.raw) return encode_raw(engine, text, Specials::recognised);
    if (completes(options, engine)) {
        note_line("kvik: " + describe_completion(engine));
        return encode_raw(engine, text, Specials::as_text);
    }
    if (is_borrowed(options, engine)) {
        note_line("kvik: " + borrowed_template(engine.used().template_name));
    }
    std::vector<ChatMessage> messages;
    if (options.system) messages.push_back({"system", *options.system});
    messages.push_back({"user", text});
    return engine.encode_chat(messages);
}

double microseconds(double ms) {
    return std::round(ms * 1000) / 1000;
}

// By what the prompt was written; null: as it is.
Json template_used(const RunOptions& options, const Engine& engine) {
    if (options.raw || options.ids || completes(options, engine)) return nullptr;
    return {{"source", engine.used().template_source}, {"name", engine.used().template_name}};
}

Json describe(const Reply& reply, const std::vector<TokenId>& prompt, const Engine& engine,
              const RunOptions& options) {
    const Summary& summary = reply.summary;
    const Timings& timings = summary.timings;
    const UsedSettings& used = engine.used();
    const CacheStats cache = engine.cache_stats();
    return {
        {"prompt_ids", prompt},
        {"ids", reply.ids},
        {"text", reply.text},
        {"logprobs", reply.logprobs},
        {"finish_reason", finish_reason_name(summary.reason)},
        {"logits_sha256", summary.logits_sha256},
        {"used",
         {{"isa", used.isa},
          {"act", used.act},
          {"kv", used.kv},
          {"ubatch", used.ubatch},
          {"threads", used.n_threads},
          {"context", used.context},
          {"seed", summary.seed}}},
        {"template", template_used(options, engine)},
        {"notes", used.notes},
        {"timings",
         {{"load_ms", microseconds(engine.load_ms())},
          {"queue_ms", microseconds(timings.queue_ms)},
          {"prompt_n", timings.n_prompt_tokens},
          {"cached_n", timings.n_cached_tokens},
          {"disk_n", timings.n_disk_tokens},
          {"prompt_ms", microseconds(timings.prompt_ms)},
          {"decode_n", timings.n_generated_tokens},
          {"decode_ms", microseconds(timings.decode_ms)}}},
        {"kv",
         {{"sequence_blocks", summary.n_kv_blocks},
          {"blocks", cache.n_blocks},
          {"free_blocks", cache.n_free_blocks},
          {"block_bytes", cache.block_bytes},
          {"cached_tokens", cache.n_cached_tokens},
          {"hit_tokens", cache.n_hit_tokens},
          {"computed_tokens", cache.n_computed_tokens},
          {"evicted_blocks", cache.n_evicted_blocks},
          {"disk_tokens", cache.n_disk_tokens},
          {"disk_bytes", cache.disk_bytes}}},
        {"spec", {{"drafted", 0}, {"accepted", 0}, {"rounds", 0}}},
    };
}

// An answer that the context cuts looks like one that ended.
void tell_full_context(const Reply& reply, const Engine& engine) {
    const uint32_t context = engine.used().context;
    const Timings& timings = reply.summary.timings;
    const uint32_t n_tokens = timings.n_prompt_tokens + timings.n_generated_tokens;
    if (reply.summary.reason == FinishReason::length && n_tokens >= context)
        note(fmt::format("kvik: the context is full, {} of {} tokens: {}\n", n_tokens, context,
                         context < engine.model().context_length
                             ? "raise --ctx"
                             : "the model was made for no more"));
}

// By which the answer can be had again. Those of several answers stand in their headers.
void tell_seed(const RunOptions& options) {
    const bool is_drawn = options.sampling.temperature > 0 && !options.several.n_beams;
    if (is_drawn && !options.several.n_samples && is_terminal(STDERR_FILENO)) {
        note_dim(fmt::format("kvik: seed {}", *options.sampling.seed));
        note("\n");
    }
}

// The first answer shows as it comes; by then the others are there, or nearly. Ctrl-C ends them all.
Result<std::vector<Reply>> listen(std::vector<Stream>& streams, Interrupts& interrupts,
                                  const RunOptions& options) {
    std::vector<Reply> replies;
    const bool wraps = !options.no_wrap && is_terminal(STDOUT_FILENO);
    for (Stream& stream : streams) {
        const auto index = static_cast<uint32_t>(replies.size());
        WordWrap words(columns_of(STDOUT_FILENO));
        const auto show = [&](std::string_view text) {
            if (options.json) return Result<void>();
            if (!wraps) return put(text);
            std::string lines;
            words.push(text, lines);
            return put(lines);
        };
        if (options.several.n_samples)
            KVIK_TRY_VOID(show(
                header_of(index, options.several.n_streams(), *options.sampling.seed + index)));
        KVIK_TRY(Reply reply, collect(stream, interrupts, show));
        if (!reply.text.empty() && !reply.text.ends_with('\n')) KVIK_TRY_VOID(show("\n"));
        std::string last_word;
        words.finish(last_word);
        KVIK_TRY_VOID(put(last_word));
        if (reply.summary.reason == FinishReason::cancelled)
            for (Stream& other : streams) other.cancel();
        replies.push_back(std::move(reply));
    }
    return replies;
}

}  // namespace

Result<int> run(const Call& call) {
    RunOptions options;
    options.sampling.seed = draw_seed();  // the headers of several answers name it before they come
    const Flags flags = run_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    if (is_conversation(options)) {
        Call handed_on = call;
        handed_on.is_handed_on = true;
        return chat(handed_on);
    }
    if (!options.of_chat.empty())
        return fail(ErrorKind::usage,
                    fmt::format("{} has no meaning for one answer: leave PROMPT out, or use kvik "
                                "chat MODEL",
                                options.of_chat));
    KVIK_TRY_VOID(check_together(options));
    if (!options.system && !options.ids && !options.raw) options.system = options.model_system;

    Interrupts interrupts;
    std::vector<TokenId> prompt;
    std::string text;
    if (options.ids) {
        prompt = *options.ids;
    } else {
        KVIK_TRY(text, read_prompt(options.prompt, interrupts));
    }
    options.engine.now = local_now();
    options.engine.max_sequences =
        std::max(options.engine.max_sequences, options.several.n_sequences());
    options.engine.costs_folder = own_cache_folder(call.environment).value_or("");
    KVIK_TRY(const auto engine, open_engine(options.engine, interrupts,
                                            options.json ? ErrorFormat::json : ErrorFormat::text));
    if (engine->tokenizer() == nullptr && options.ids && !options.json)
        return fail(ErrorKind::usage, "the model has no tokenizer, its answer is ids: add --json");
    tell_if_stdin_is_left(options.prompt);
    if (!options.ids) {
        KVIK_TRY(prompt, encode_prompt(options, *engine, text));
    }

    GenerateRequest request;
    request.prompt = prompt;
    request.sampling = options.sampling;
    request.max_new_tokens = options.answer.max_new_tokens;
    request.end_tokens = options.answer.end_tokens;
    request.stop = options.answer.stop;
    request.cache = options.engine.cache;
    request.want_logprobs = options.json;
    request.want_logits_hash = options.logits_hash;
    request.want_kv_report = options.kv_report;
    KVIK_TRY(std::vector<Stream> streams, submit(*engine, std::move(request), options.several));
    KVIK_TRY(const std::vector<Reply> replies, listen(streams, interrupts, options));
    const Reply& first = replies.front();
    if (options.json) {
        Json out = describe(first, prompt, *engine, options);
        describe_several(options.several, replies, first.summary.seed, out);
        if (first.summary.kv_report) out["kv_report"] = describe(*first.summary.kv_report);
        KVIK_TRY_VOID(put(to_line(out)));
    } else {
        if (options.several.n_sequences() > 1) note(held_blocks(options.several, replies, *engine));
        tell_full_context(first, *engine);
        tell_seed(options);
        if (options.verbose)
            for (const std::string& line : timing_lines(engine->load_ms(), first.summary.timings))
                note("kvik: " + line + "\n");
        if (first.summary.kv_report)
            for (const std::string& line : describe_lines(*first.summary.kv_report))
                note(line + "\n");
    }
    if (const auto kept = engine->finish_disk(); !kept)
        note("kvik: " + printable(kept.error().message) + "\n");
    const bool cancelled = std::any_of(replies.begin(), replies.end(), [](const Reply& reply) {
        return reply.summary.reason == FinishReason::cancelled;
    });
    return cancelled ? static_cast<int>(ErrorKind::cancelled) : 0;
}

}  // namespace kvik::cli
