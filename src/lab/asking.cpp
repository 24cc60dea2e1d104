#include "lab/asking.h"

#include <fmt/format.h>

#include <chrono>

#include "base/philox.h"

namespace kvik::lab {

static constexpr std::string_view kDepthSalt = "depth";

static double ms_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
}

Result<Told> ask(Engine& engine, Asked asked) {
    GenerateRequest request;
    request.prompt = std::move(asked.prompt);
    request.sampling.temperature = 0;
    request.max_new_tokens = asked.n_answer;
    request.end_tokens = EndTokens::ignore;
    request.cache = asked.cache;
    request.cache_salt = std::move(asked.salt);
    request.want_logits_hash = true;
    Told told;
    const auto start = std::chrono::steady_clock::now();
    KVIK_TRY(Stream stream, engine.submit(std::move(request)));
    for (;;) {
        KVIK_TRY(const auto event, stream.next());
        if (!event) break;
        if (told.ids.empty()) told.first_ms = ms_since(start);
        told.ids.push_back(event->id);
    }
    told.total_ms = ms_since(start);
    told.summary = stream.summary();
    return told;
}

std::vector<TokenId> DepthMeter::some_ids(uint32_t n, uint32_t stream) const {
    std::vector<TokenId> ids(n);
    for (uint32_t i = 0; i < n; ++i)
        ids[i] = static_cast<TokenId>(philox4x32({i, stream, 1, 0}, {0, 0})[0] %
                                      engine_->model().vocab_size);
    return ids;
}

Result<double> DepthMeter::first_ms(const Place& place) {
    const std::vector<TokenId> prefix = some_ids(place.depth, 0);
    const std::string salt(kDepthSalt);
    if (place.depth > 0)
        KVIK_TRY_VOID(ask(*engine_, {.prompt = prefix, .n_answer = 0, .salt = salt}));
    std::vector<TokenId> prompt = prefix;
    const auto own = some_ids(place.n_tokens, ++n_asked_);
    prompt.insert(prompt.end(), own.begin(), own.end());
    KVIK_TRY(const Told told, ask(*engine_, {.prompt = std::move(prompt), .salt = salt}));
    if (told.summary.timings.n_cached_tokens < place.depth)
        return fail(ErrorKind::memory,
                    fmt::format("only {} of {} tokens were still cached: raise --cache-ram",
                                told.summary.timings.n_cached_tokens, place.depth));
    return told.first_ms;
}

}  // namespace kvik::lab
