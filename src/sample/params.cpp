#include "sample/params.h"

#include <fmt/format.h>

#include <limits>
#include <random>
#include <string_view>

namespace kvik {
namespace {

struct Range {
    float low;
    float high;
};

Result<void> in_range(std::string_view field, float value, Range range) {
    if (value >= range.low && value <= range.high) return {};
    return fail(ErrorKind::usage, fmt::format("{} is {}: it must be between {} and {}", field,
                                              value, range.low, range.high));
}

// The bounds keep l / T and the penalties far inside the range of f32, and 1 / T finite.
constexpr Range kTemperature = {0.001f, 100.0f};
constexpr Range kRepeat = {0.1f, 10.0f};
constexpr Range kPenalty = {-100.0f, 100.0f};
constexpr Range kBias = {-10000.0f, 10000.0f};

}  // namespace

uint64_t draw_seed() {
    return std::random_device()();
}

Result<void> validate(const SamplingParams& params) {
    const float t = params.temperature;
    if (t != 0.0f && !(t >= kTemperature.low && t <= kTemperature.high))
        return fail(ErrorKind::usage,
                    fmt::format("temperature is {}: it must be 0 (greedy) or between {} and {}", t,
                                kTemperature.low, kTemperature.high));
    KVIK_TRY_VOID(in_range("top_p", params.top_p, {0.0f, 1.0f}));
    KVIK_TRY_VOID(in_range("min_p", params.min_p, {0.0f, 1.0f}));
    KVIK_TRY_VOID(in_range("repeat_penalty", params.repeat_penalty, kRepeat));
    KVIK_TRY_VOID(in_range("presence_penalty", params.presence_penalty, kPenalty));
    KVIK_TRY_VOID(in_range("frequency_penalty", params.frequency_penalty, kPenalty));
    for (const auto& [id, bias] : params.logit_bias) {
        if (bias == -std::numeric_limits<float>::infinity()) continue;
        KVIK_TRY_VOID(in_range(fmt::format("logit_bias of token {}", id), bias, kBias));
    }
    return {};
}

Result<void> validate(const SamplingParams& params, uint32_t vocab_size) {
    KVIK_TRY_VOID(validate(params));
    if (params.logit_bias.size() > vocab_size)
        return fail(ErrorKind::usage,
                    fmt::format("logit_bias has {} entries, the vocabulary {} tokens: give each "
                                "token one bias",
                                params.logit_bias.size(), vocab_size));
    for (const auto& [id, bias] : params.logit_bias)
        if (id < 0 || static_cast<uint32_t>(id) >= vocab_size)
            return fail(ErrorKind::usage,
                        fmt::format("logit_bias names token {}: ids go from 0 to {}", id,
                                    int64_t{vocab_size} - 1));
    return {};
}

}  // namespace kvik
