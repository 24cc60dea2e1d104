#include "model/hf_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kvik {
namespace {

#include "model/hf_class_table.inl"

}  // namespace

bool HfClass::has(std::string_view field) const {
    return std::ranges::any_of(fields, [&](const HfField& f) { return f.name == field; });
}

const HfClass* find_hf_class(std::string_view model_type, const nlohmann::json& root) {
    // Transformers takes a mistral with kinds of layers for a ministral (AutoConfig).
    if (model_type == "mistral" && root.contains("layer_types")) model_type = "ministral";
    for (const HfClass& row : kClasses)
        if (row.model_type == model_type) return &row;
    return nullptr;
}

Result<nlohmann::json> resolve_fields(const HfClass& row, const nlohmann::json& root,
                                      const std::string& file) {
    nlohmann::json fields = nlohmann::json::object();
    for (const HfField& field : row.fields) {
        const nlohmann::json* said = nullptr;
        std::string_view name = field.name;
        if (const auto at = root.find(field.name); at != root.end()) said = &*at;
        for (const HfAlias& alias : row.aliases)
            if (const auto at = root.find(alias.name);
                alias.field == field.name && at != root.end()) {
                said = &*at;
                name = alias.name;
            }
        if (said != nullptr && said->is_null() && !field.may_be_null)
            return fail(ErrorKind::file,
                        fmt::format("{}: key '{}' is null, {} models need a value: correct it, or "
                                    "take the line out, which stands for {}",
                                    file, name, row.model_type, field.absent));
        fields[std::string(field.name)] =
            said != nullptr ? *said : nlohmann::json::parse(field.absent);
    }
    return fields;
}

}  // namespace kvik
