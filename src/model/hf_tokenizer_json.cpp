#include "model/hf_tokenizer_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/utf8.h"

namespace kvik {

tl::unexpected<Error> HfJson::lie(std::string_view problem) const {
    return fail(ErrorKind::file, fmt::format("{}: {} {}: fetch or convert it again", file_,
                                             path_.empty() ? "the file" : path_, problem));
}

tl::unexpected<Error> HfJson::unsupported(std::string_view what) const {
    return fail(
        ErrorKind::unsupported,
        fmt::format("{}: {} {}, which this version cannot do: use another model, or token ids",
                    file_, path_.empty() ? "the file" : path_, what));
}

Result<std::optional<HfJson>> HfJson::find(std::string_view key) const {
    if (!value_->is_object()) return lie(fmt::format("is {}, not an object", value_->type_name()));
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return HfJson(*found, file_,
                  path_.empty() ? shown(key) : fmt::format("{}.{}", path_, shown(key)));
}

Result<HfJson> HfJson::require(std::string_view key) const {
    KVIK_TRY(const std::optional<HfJson> found, find(key));
    if (found) return *found;
    return lie(fmt::format("has no '{}'", shown(key)));
}

Result<bool> HfJson::flag(std::string_view key, bool otherwise) const {
    KVIK_TRY(const std::optional<HfJson> found, find(key));
    if (!found) return otherwise;
    if (!found->json().is_boolean())
        return found->lie(fmt::format("is {}, not true or false", found->json().type_name()));
    return found->json().get<bool>();
}

Result<std::string> HfJson::text(std::string_view key) const {
    KVIK_TRY(const std::optional<HfJson> found, find(key));
    if (!found) return std::string();
    return found->as_text();
}

Result<size_t> HfJson::size() const {
    if (!value_->is_array()) return lie(fmt::format("is {}, not a list", value_->type_name()));
    return value_->size();
}

HfJson HfJson::at(size_t index) const {
    return HfJson((*value_)[index], file_, fmt::format("{}[{}]", path_, index));
}

Result<std::string> HfJson::as_text() const {
    if (!value_->is_string()) return lie(fmt::format("is {}, not a string", value_->type_name()));
    return value_->get<std::string>();
}

Result<int32_t> HfJson::as_id(size_t limit) const {
    if (!value_->is_number_integer())
        return lie(fmt::format("is {}, not a token's id", value_->type_name()));
    const bool fits = value_->is_number_unsigned() && value_->get<uint64_t>() < limit;
    if (fits) return static_cast<int32_t>(value_->get<uint64_t>());
    return lie(
        fmt::format("is {}: the ids of {} tokens are 0 to {}", value_->dump(), limit, limit - 1));
}

}  // namespace kvik
