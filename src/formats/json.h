// JSON from outside as a tree: a bounded depth, no key twice, valid UTF-8.
//
// Use     include <nlohmann/json.hpp> in the .cpp that reads the tree; this header stays light.
// Cost    linear; the tree takes some ten times the bytes of the text, of "[{},{},...]" forty.
// Errors  ErrorKind::file: the file, what is wrong, and behind which byte it was found.
// Source  RFC 8259.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik {

inline constexpr uint32_t kMaxJsonDepth = 64;
inline constexpr uint64_t kMaxJsonBytes = 256 << 20;  // of a file; large vocabularies take 40 MiB

// `file` is for messages.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& file);

}  // namespace kvik
