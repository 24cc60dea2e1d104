#include "cli/reply.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/load_bar.h"
#include "cli/prompt_note.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

[[noreturn]] void leave_at_once() {
    if (is_terminal(STDERR_FILENO)) note("\n");
    std::_Exit(static_cast<int>(ErrorKind::cancelled));
}

}  // namespace

Result<Reply> collect(Stream& stream, Interrupts& interrupts, const ShowText& show,
                      const Hooks& hooks) {
    Reply reply;
    PromptNote wait;
    bool cancelled = false;
    const auto take_text = [&](const std::string& text) -> Result<void> {
        if (text.empty()) return {};
        wait.clear();
        reply.text += text;
        return show(text);
    };
    for (;;) {
        if (interrupts.take()) {
            if (cancelled) {
                if (hooks.leaving) hooks.leaving();
                leave_at_once();
            }
            stream.cancel();
            cancelled = true;
        }
        auto event = stream.next(std::chrono::milliseconds(20));
        if (!event && stream.timed_out()) {
            if (reply.ids.empty()) wait.tick(stream.progress());
            continue;
        }
        if (!event) return tl::unexpected(std::move(event).error());
        if (!event->has_value()) break;
        const TokenEvent& token = **event;
        if (reply.ids.empty()) wait.clear();
        reply.ids.push_back(token.id);
        reply.logprobs.push_back(token.logprob);
        KVIK_TRY_VOID(take_text(token.text));
    }
    KVIK_TRY_VOID(take_text(stream.tail()));
    reply.summary = stream.summary();
    return reply;
}

std::string status_line(const Timings& timings, uint32_t context, uint32_t n_columns) {
    const std::string prompt = fmt::format("prompt {} tok", timings.n_prompt_tokens);
    const std::string cached =
        timings.n_cached_tokens > 0 ? fmt::format(" ({} cached)", timings.n_cached_tokens) : "";
    std::string answer = fmt::format("{} tok", timings.n_generated_tokens);
    if (timings.n_generated_tokens > 1 && timings.decode_ms > 0)
        answer += fmt::format(" {:.0f} tok/s",
                              (timings.n_generated_tokens - 1) * 1000 / timings.decode_ms);
    const std::string filled =
        fmt::format("ctx {}/{}", timings.n_prompt_tokens + timings.n_generated_tokens, context);
    const std::string lines[] = {
        fmt::format("{}{} {:.0f} ms - {} - {}", prompt, cached, timings.prompt_ms, answer, filled),
        fmt::format("{}{} - {} - {}", prompt, cached, answer, filled),
        fmt::format("{} - {}", answer, filled),
    };
    for (const std::string& line : lines)
        if (line.size() <= n_columns) return line;
    return cut_to_columns(filled, n_columns);
}

static std::string rate_of(uint32_t n_tokens, double ms) {
    return ms > 0 && n_tokens > 0 ? fmt::format(", {:.1f} tok/s", n_tokens * 1000.0 / ms) : "";
}

std::vector<std::string> timing_lines(double load_ms, const Timings& timings) {
    // Of the tokens of an answer the first comes with the prompt.
    const uint32_t n_timed = timings.n_generated_tokens > 0 ? timings.n_generated_tokens - 1 : 0;
    return {
        fmt::format("load    {:.0f} ms", load_ms),
        fmt::format("prompt  {}, {} of them cached, {:.0f} ms{}",
                    counted(timings.n_prompt_tokens, "token"), timings.n_cached_tokens,
                    timings.prompt_ms,
                    rate_of(timings.n_prompt_tokens - timings.n_cached_tokens, timings.prompt_ms)),
        fmt::format("answer  {}, {:.0f} ms{}", counted(timings.n_generated_tokens, "token"),
                    timings.decode_ms, rate_of(n_timed, timings.decode_ms))};
}

Result<std::unique_ptr<Engine>> open_engine(EngineOptions options, Interrupts& interrupts,
                                            ErrorFormat format) {
    LoadBar bar;
    options.progress = [&](uint64_t done_bytes, uint64_t total_bytes) {
        bar.update(done_bytes, total_bytes);
        if (!interrupts.take()) return;
        bar.clear();
        std::_Exit(report({ErrorKind::cancelled, "interrupted"}, format));
    };
    KVIK_TRY(auto engine, Engine::open(std::move(options)));
    bar.clear();
    for (const std::string& said : engine->used().notes)
        note_line(fmt::format("kvik: note: {}", printable(said)));
    return engine;
}

}  // namespace kvik::cli
