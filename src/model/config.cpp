#include "model/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace kvik {
namespace {

// What a field may be. Maxima are some four times what the largest known models have.
struct Limit {
    ConfigField field;
    double min, max;
    double (*value)(const ModelConfig&);
};

double widest_window(const ModelConfig& c) {
    double widest = 0;
    for (const uint32_t window : c.windows) widest = std::max<double>(widest, window);
    return widest;
}

// That of layers with a window where it is out of range.
double rope_base(const ModelConfig& c) {
    const double local = c.local_rope.base;
    return c.local_rope.n_dims > 0 && !(local >= 1 && local <= 1e12) ? local : c.rope.base;
}

constexpr std::array<Limit, kNConfigFields> kLimits = {{
    {ConfigField::n_layers, 1, 1024, [](const ModelConfig& c) -> double { return c.n_layers; }},
    {ConfigField::hidden_size, 1, 1 << 17,
     [](const ModelConfig& c) -> double { return c.hidden_size; }},
    {ConfigField::n_heads, 1, 1024, [](const ModelConfig& c) -> double { return c.n_heads; }},
    {ConfigField::n_kv_heads, 1, 1024, [](const ModelConfig& c) -> double { return c.n_kv_heads; }},
    {ConfigField::head_dim, 2, 1024, [](const ModelConfig& c) -> double { return c.head_dim; }},
    {ConfigField::intermediate_size, 1, 1 << 20,
     [](const ModelConfig& c) -> double { return c.intermediate_size; }},
    {ConfigField::vocab_size, 1, 1 << 21,
     [](const ModelConfig& c) -> double { return c.vocab_size; }},
    {ConfigField::context_length, 1, 1 << 25,
     [](const ModelConfig& c) -> double { return c.context_length; }},
    {ConfigField::norm_eps, 1e-13, 0.1, [](const ModelConfig& c) -> double { return c.norm_eps; }},
    {ConfigField::rope_base, 1, 1e12, rope_base},
    {ConfigField::rope_linear_factor, 1, 1 << 16,
     [](const ModelConfig& c) { return c.rope.linear_factor; }},
    {ConfigField::rope_n_dims, 2, 1024,
     [](const ModelConfig& c) -> double { return c.rope.n_dims; }},
    {ConfigField::window, 0, 1 << 25, widest_window},
    {ConfigField::attention_scale, 1e-6, 1e3,
     [](const ModelConfig& c) -> double { return c.attention_scale; }},
}};

tl::unexpected<Error> refuse(const ConfigNames& names, ConfigField field, double value,
                             std::string_view law) {
    return fail(ErrorKind::file, fmt::format("{}: {} is {}, {}: convert the model again",
                                             names.file, names[field], value, law));
}

}  // namespace

Result<void> validate(const ModelConfig& config, const ConfigNames& names) {
    const bool turns = config.positions == Positions::rope;
    for (const Limit& limit : kLimits) {
        const bool is_rope = limit.field == ConfigField::rope_base ||
                             limit.field == ConfigField::rope_linear_factor ||
                             limit.field == ConfigField::rope_n_dims;
        if (is_rope && !turns) continue;
        const double value = limit.value(config);
        if (!(value >= limit.min && value <= limit.max))
            return refuse(names, limit.field, value,
                          fmt::format("the range is {} .. {}", limit.min, limit.max));
    }
    if (config.n_heads % config.n_kv_heads != 0)
        return refuse(names, ConfigField::n_kv_heads, config.n_kv_heads,
                      fmt::format("it must divide {}, which is {}", names[ConfigField::n_heads],
                                  config.n_heads));
    KVIK_CHECK(config.windows.empty() || config.windows.size() == config.n_layers,
               "a reader gives a window to every layer or to none");
    if (!turns) return {};
    if (config.rope.n_dims > config.head_dim)
        return refuse(names, ConfigField::rope_n_dims, config.rope.n_dims,
                      fmt::format("it can be at most {}, which is {}", names[ConfigField::head_dim],
                                  config.head_dim));
    if (config.rope.n_dims % 2 != 0)
        return refuse(names, ConfigField::rope_n_dims, config.rope.n_dims, "it must be even");
    return {};
}

}  // namespace kvik
