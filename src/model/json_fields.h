// JsonFields: the fields of one JSON object by name and type; errors name file, path and value.
//
// Owner   borrows the object; it outlives this.
// Errors  a field of another type or out of range: ErrorKind::file. null counts as not there.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

class JsonFields {
  public:
    // `path` leads messages on to the field: "" or "rope_scaling.".
    JsonFields(const nlohmann::json& object, std::string file, std::string path = {});

    bool has(std::string_view name) const;
    Result<std::optional<uint32_t>> integer(std::string_view name) const;
    Result<std::optional<double>> real(std::string_view name) const;
    Result<std::optional<std::string>> text(std::string_view name) const;
    Result<std::optional<bool>> flag(std::string_view name) const;
    Result<std::optional<JsonFields>> object(std::string_view name) const;
    Result<std::optional<const nlohmann::json*>> array(std::string_view name) const;

    Result<uint32_t> require_integer(std::string_view name) const;
    Result<uint32_t> integer_or(std::string_view name, uint32_t absent) const;
    Result<double> real_or(std::string_view name, double absent) const;
    Result<bool> flag_or(std::string_view name, bool absent) const;

    tl::unexpected<Error> error(std::string_view name, std::string_view problem,
                                ErrorKind kind = ErrorKind::file) const;
    std::string name_of(std::string_view field) const;  // for messages: key 'rope_scaling.factor'
    const std::string& file() const { return file_; }

  private:
    const nlohmann::json* find(std::string_view name) const;  // null: not there
    tl::unexpected<Error> wrong_type(std::string_view name, const nlohmann::json& value,
                                     std::string_view wanted) const;

    const nlohmann::json* object_;
    std::string file_, path_;
};

}  // namespace kvik
