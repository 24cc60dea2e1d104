#include "model/hf_rope.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/exact_math.h"
#include "model/json_fields.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

constexpr double kPi = 3.14159265358979323846;
constexpr std::string_view kFull = "full_attention", kSliding = "sliding_attention";

Result<double> require_real(const JsonFields& fields, std::string_view name, double min,
                            double max) {
    KVIK_TRY(const std::optional<double> value, fields.real(name));
    if (!value) return fields.error(name, "is missing: fetch the model again");
    if (!(*value >= min && *value <= max))
        return fields.error(name, fmt::format("is {}, the range is {} .. {}: fetch the model again",
                                              *value, min, max));
    return *value;
}

// One set of parameters, whole, -> RopeConfig.
Result<void> apply(const JsonFields& part, RopeConfig& rope) {
    KVIK_TRY(const std::optional<double> base, part.real("rope_theta"));
    if (!base) return part.error("rope_theta", "is null, a number is needed: correct config.json");
    rope.base = *base;
    KVIK_TRY(const std::optional<std::string> name, part.text("rope_type"));
    if (name == "default") return {};
    if (name != "linear" && name != "llama3")
        return part.error("rope_type",
                          fmt::format("is '{}', kvik knows default, linear and llama3: take a "
                                      "model with one of these",
                                      name.value_or("null").substr(0, 40)),
                          ErrorKind::unsupported);
    // Other types turn whole heads too, Transformers fails at a part of one.
    KVIK_TRY(const double share, part.real_or("partial_rotary_factor", 1));
    if (share != 1)
        return part.error("partial_rotary_factor",
                          fmt::format("is {} beside the RoPE type {}, kvik turns whole heads: take "
                                      "another model",
                                      share, *name),
                          ErrorKind::unsupported);
    if (name == "linear") {
        KVIK_TRY(rope.linear_factor, require_real(part, "factor", 1, 1 << 16));
        return {};
    }
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

// A value of an object, or null.
const Json& value_of(const Json& object, std::string_view name) {
    static const Json nothing;
    const auto at = object.find(name);
    return at == object.end() ? nothing : *at;
}

void set_default(Json& object, std::string_view name, const Json& value) {
    if (!object.contains(name)) object[std::string(name)] = value;
}

Json value_or(const Json& object, std::string_view name, const Json& absent) {
    const auto at = object.find(name);
    return at == object.end() ? absent : *at;
}

// What a set of parameters leaves out is filled in from what stands beside it.
void complete(const HfRopeInput& in, Json& set, const Json& base) {
    set_default(set, "rope_theta", base);
    set_default(set, "rope_type", value_or(set, "type", "default"));
    if (const Json& share = value_of(in.root, "partial_rotary_factor"); !share.is_null())
        set_default(set, "partial_rotary_factor", share);
    set_default(set, "original_max_position_embeddings", in.context_length);
}

Result<Json> object_or_null(const HfRopeInput& in, std::string_view name) {
    const Json& value = value_of(in.root, name);
    if (value.is_null() || value.is_object()) return value;
    KVIK_TRY_VOID(JsonFields(in.root, in.file).object(name));
    return value;
}

// A set for a kind of the model's layers: Transformers then fills in nothing beside it.
bool names_a_kind(const HfRopeInput& in, const Json& parameters) {
    return (in.has_full && parameters.contains(kFull)) ||
           (in.has_sliding && parameters.contains(kSliding));
}

Result<HfRope> read_one_set(const HfRopeInput& in) {
    KVIK_TRY(const Json scaling, object_or_null(in, "rope_scaling"));
    KVIK_TRY(Json set, object_or_null(in, "rope_parameters"));
    const std::string_view path = scaling.empty() ? "rope_parameters." : "rope_scaling.";
    if (!scaling.empty()) set = scaling;
    if (set.is_null()) set = Json::object();
    if (names_a_kind(in, set) && !(set.contains("rope_type") && set.contains("rope_theta")))
        return fail(
            ErrorKind::unsupported,
            fmt::format("{}: key '{}' has parameters for kinds of layers, {} models have one "
                        "set for all: write rope_type and rope_theta beside them",
                        in.file, path.substr(0, path.size() - 1), in.row.model_type));
    complete(in, set, value_or(in.root, "rope_theta", in.row.rope_base));
    // The one value that counts from outside of the set.
    if (const auto at = in.root.find("original_max_position_embeddings"); at != in.root.end())
        set["original_max_position_embeddings"] = *at;
    HfRope rope;
    rope.all = {.n_dims = in.head_dim, .layout = RopeLayout::halves};
    KVIK_TRY_VOID(apply(JsonFields(set, in.file, std::string(path)), rope.all));
    return rope;
}

Result<RopeConfig> read_kind(const HfRopeInput& in, const Json& sets, std::string_view kind,
                             const Json& base) {
    const std::string path = fmt::format("rope_parameters.{}.", kind);
    KVIK_TRY(const std::optional<JsonFields> is_object,
             JsonFields(sets, in.file, "rope_parameters.").object(kind));
    Json set = is_object ? sets[std::string(kind)] : Json::object();
    complete(in, set, base);
    RopeConfig rope = {.n_dims = in.head_dim, .layout = RopeLayout::halves};
    KVIK_TRY_VOID(apply(JsonFields(set, in.file, path), rope));
    return rope;
}

Result<HfRope> read_sets_per_kind(const HfRopeInput& in) {
    KVIK_TRY(const Json scaling, object_or_null(in, "rope_scaling"));
    KVIK_TRY(Json sets, object_or_null(in, "rope_parameters"));
    if (sets.is_null()) {
        sets = Json::object();
        sets[std::string(kFull)] = sets[std::string(kSliding)] = {{"rope_type", "default"}};
    }
    if (!scaling.is_null()) {
        Json& full = sets[std::string(kFull)];
        if (!full.is_object())
            return fail(ErrorKind::unsupported,
                        fmt::format("{}: key 'rope_scaling' adds to rope_parameters.{}, which is "
                                    "missing: correct config.json",
                                    in.file, kFull));
        full.update(scaling);
    }
    // Of a kind that no layer is of nothing is read.
    HfRope rope;
    if (in.has_sliding) {
        const Json base = value_or(in.root, "rope_local_base_freq", in.row.local_rope_base);
        KVIK_TRY(rope.local, read_kind(in, sets, kSliding, base));
    }
    rope.all = rope.local;
    if (in.has_full) {
        const Json base = value_or(in.root, "rope_theta", in.row.rope_base);
        KVIK_TRY(rope.all, read_kind(in, sets, kFull, base));
    }
    return rope;
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

Result<HfRope> rope_from_hf(const HfRopeInput& input) {
    return input.row.rope == HfRopeSpelling::one_set ? read_one_set(input)
                                                     : read_sets_per_kind(input);
}

}  // namespace kvik
