#include "model/json_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "formats/byte_cursor.h"

namespace kvik {

using Json = nlohmann::json;

JsonFields::JsonFields(const Json& object, std::string file, std::string path)
    : object_(&object), file_(std::move(file)), path_(std::move(path)) {
    KVIK_CHECK(object.is_object(), "fields are an object's");
}

const Json* JsonFields::find(std::string_view name) const {
    const auto it = object_->find(name);
    return it == object_->end() || it->is_null() ? nullptr : &*it;
}

bool JsonFields::has(std::string_view name) const {
    return find(name) != nullptr;
}

std::string JsonFields::name_of(std::string_view field) const {
    return fmt::format("key '{}{}'", path_, field);
}

tl::unexpected<Error> JsonFields::error(std::string_view name, std::string_view problem,
                                        ErrorKind kind) const {
    return fail(kind, fmt::format("{}: {} {}", file_, name_of(name), problem));
}

tl::unexpected<Error> JsonFields::wrong_type(std::string_view name, const Json& value,
                                             std::string_view wanted) const {
    const std::string text = value.is_structured() ? value.type_name() : value.dump();
    return error(name,
                 fmt::format("is {}, not {}: fetch the model again", in_quotes(text), wanted));
}

Result<std::optional<uint32_t>> JsonFields::integer(std::string_view name) const {
    const Json* value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_number_unsigned() || value->get<uint64_t>() > UINT32_MAX)
        return wrong_type(name, *value, "a whole number from 0 to 4294967295");
    return value->get<uint32_t>();
}

Result<std::optional<double>> JsonFields::real(std::string_view name) const {
    const Json* value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_number()) return wrong_type(name, *value, "a number");
    return value->get<double>();
}

Result<std::optional<std::string>> JsonFields::text(std::string_view name) const {
    const Json* value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_string()) return wrong_type(name, *value, "a text");
    return value->get<std::string>();
}

Result<std::optional<bool>> JsonFields::flag(std::string_view name) const {
    const Json* value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_boolean()) return wrong_type(name, *value, "true or false");
    return value->get<bool>();
}

Result<std::optional<JsonFields>> JsonFields::object(std::string_view name) const {
    const Json* value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_object()) return wrong_type(name, *value, "an object");
    return JsonFields(*value, file_, fmt::format("{}{}.", path_, name));
}

Result<std::optional<const Json*>> JsonFields::array(std::string_view name) const {
    const Json* value = find(name);
    if (!value) return std::nullopt;
    if (!value->is_array()) return wrong_type(name, *value, "a list");
    return value;
}

Result<uint32_t> JsonFields::require_integer(std::string_view name) const {
    KVIK_TRY(const std::optional<uint32_t> value, integer(name));
    if (!value) return error(name, "is missing: fetch the model again");
    return *value;
}

Result<uint32_t> JsonFields::integer_or(std::string_view name, uint32_t absent) const {
    KVIK_TRY(const std::optional<uint32_t> value, integer(name));
    return value.value_or(absent);
}

Result<double> JsonFields::real_or(std::string_view name, double absent) const {
    KVIK_TRY(const std::optional<double> value, real(name));
    return value.value_or(absent);
}

Result<bool> JsonFields::flag_or(std::string_view name, bool absent) const {
    KVIK_TRY(const std::optional<bool> value, flag(name));
    return value.value_or(absent);
}

}  // namespace kvik
