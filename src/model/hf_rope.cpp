#include "model/hf_rope.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/exact_math.h"

namespace kvik {
namespace {

constexpr double kPi = 3.14159265358979323846;

Result<double> require_real(const JsonFields& fields, std::string_view name, double min,
                            double max) {
    KVIK_TRY(const std::optional<double> value, fields.real(name));
    if (!value) return fields.error(name, "is missing: fetch the model again");
    if (!(*value >= min && *value <= max))
        return fields.error(name, fmt::format("is {}, the range is {} .. {}: fetch the model again",
                                              *value, min, max));
    return *value;
}

// One set of parameters: rope_scaling, rope_parameters, or one kind of layer's part of these.
Result<void> apply(const JsonFields& part, RopeConfig& rope) {
    KVIK_TRY(rope.base, part.real_or("rope_theta", rope.base));
    KVIK_TRY(const std::optional<std::string> type, part.text("rope_type"));
    KVIK_TRY(const std::optional<std::string> old_type, part.text("type"));
    const std::string name = type.value_or(old_type.value_or("default"));
    if (name == "default") return {};
    if (name == "linear") {
        KVIK_TRY(rope.linear_factor, require_real(part, "factor", 1, 1 << 16));
        return {};
    }
    if (name != "llama3")
        return part.error(type ? "rope_type" : "type",
                          fmt::format("is '{}', kvik knows default, linear and llama3: take a "
                                      "model with one of these",
                                      name.substr(0, 40)),
                          ErrorKind::unsupported);
    Llama3Scaling scaling;
    KVIK_TRY(scaling.factor, require_real(part, "factor", 1, 1 << 16));
    KVIK_TRY(scaling.low, require_real(part, "low_freq_factor", 1e-3, 1e6));
    KVIK_TRY(scaling.high, require_real(part, "high_freq_factor", 1e-3, 1e6));
    KVIK_TRY(scaling.original_context,
             require_real(part, "original_max_position_embeddings", 1, 1 << 25));
    if (scaling.high <= scaling.low)
        return part.error("high_freq_factor",
                          fmt::format("is {}, it must exceed low_freq_factor, which is {}: fetch "
                                      "the model again",
                                      scaling.high, scaling.low));
    rope.divisors = llama3_divisors(rope, scaling);
    return {};
}

}  // namespace

std::vector<double> llama3_divisors(const RopeConfig& rope, const Llama3Scaling& scaling) {
    std::vector<double> divisors(rope.n_dims / 2);
    for (uint32_t i = 0; i < divisors.size(); ++i) {
        const double wavelength = 2 * kPi / exact_pow(rope.base, -2.0 * i / rope.n_dims);
        const double turns = scaling.original_context / wavelength;
        const double smooth =
            std::clamp((turns - scaling.low) / (scaling.high - scaling.low), 0.0, 1.0);
        divisors[i] = 1 / ((1 - smooth) / scaling.factor + smooth);
    }
    return divisors;
}

Result<HfRope> rope_from_hf(const JsonFields& fields, uint32_t head_dim, double local_base) {
    HfRope rope;
    rope.all.layout = RopeLayout::halves;
    KVIK_TRY(const std::optional<JsonFields> parameters, fields.object("rope_parameters"));
    KVIK_TRY(const std::optional<JsonFields> scaling, fields.object("rope_scaling"));
    KVIK_TRY(double share, fields.real_or("partial_rotary_factor", 1));
    if (parameters) {
        KVIK_TRY(share, parameters->real_or("partial_rotary_factor", share));
    }
    if (!(share > 0 && share <= 1))
        return fields.error(
            "partial_rotary_factor",
            fmt::format("is {}, the range is 0 .. 1: fetch the model again", share));
    rope.all.n_dims = static_cast<uint32_t>(share * head_dim);
    if (rope.all.n_dims < 2 || rope.all.n_dims % 2 != 0)
        return fields.error("partial_rotary_factor",
                            fmt::format("makes {} of {} dimensions turn, an even number from 2 on "
                                        "is needed: fetch the model again",
                                        rope.all.n_dims, head_dim));
    KVIK_TRY(rope.all.base, fields.real_or("rope_theta", rope.all.base));
    rope.local = rope.all;
    KVIK_TRY(rope.local.base, fields.real_or("rope_local_base_freq", local_base));
    std::optional<JsonFields> full, sliding;
    if (parameters) {
        KVIK_TRY(full, parameters->object("full_attention"));
        KVIK_TRY(sliding, parameters->object("sliding_attention"));
    }
    if (scaling) KVIK_TRY_VOID(apply(*scaling, rope.all));
    if (full || sliding) {
        if (full) KVIK_TRY_VOID(apply(*full, rope.all));
        if (sliding) KVIK_TRY_VOID(apply(*sliding, rope.local));
    } else if (parameters) {
        KVIK_TRY_VOID(apply(*parameters, rope.all));
    }
    if (rope.local.base == 0) rope.local = {};
    return rope;
}

}  // namespace kvik
