// A value of a JSON tree and where it stands, for reading with messages.
//
// Errors  wrong types: ErrorKind::file with the file and the path, such as "added_tokens[3].id".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

class HfJson {
  public:
    HfJson(const nlohmann::json& value, std::string file, std::string path = "")
        : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

    const nlohmann::json& json() const { return *value_; }
    const std::string& path() const { return path_; }
    const std::string& file() const { return file_; }

    tl::unexpected<Error> lie(std::string_view problem) const;       // "FILE: PATH PROBLEM: ..."
    tl::unexpected<Error> unsupported(std::string_view what) const;  // likewise

    // Of an object. Nothing: the key is not there, or null.
    Result<std::optional<HfJson>> find(std::string_view key) const;
    Result<HfJson> require(std::string_view key) const;
    Result<bool> flag(std::string_view key, bool otherwise) const;
    // Not there: "".
    Result<std::string> text(std::string_view key) const;

    // Of an array.
    Result<size_t> size() const;
    HfJson at(size_t index) const;

    Result<std::string> as_text() const;
    // 0 .. limit - 1.
    Result<int32_t> as_id(size_t limit) const;

  private:
    const nlohmann::json* value_;
    std::string file_;
    std::string path_;
};

}  // namespace kvik
