// Ids: token ids given in place of text, `1,2,3`, a JSON list `[1, 2, 3]`, or `@file.json` with one.
//
// Errors  not a list of whole numbers from 0 to 2^31 - 1, or empty: ErrorKind::usage naming the
//         offender; a file that cannot be read: ErrorKind::file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "cli/interrupts.h"
#include "cli/values.h"

namespace kvik::cli {

Result<std::vector<TokenId>> parse_ids(std::string_view text);
// `what` names the list in errors.
Result<std::vector<TokenId>> parse_json_ids(std::string_view json, std::string_view what);
// A JSON list, or numbers apart by commas or white space; an empty text is an empty list.
Result<std::vector<TokenId>> parse_id_words(std::string_view text);

Setter into_ids(std::optional<std::vector<TokenId>>& target);

// "-" is stdin. interrupts may be null, as LineReader has it; else Ctrl-C: ErrorKind::cancelled.
Result<std::string> read_file(const std::string& path, Interrupts* interrupts = nullptr);

}  // namespace kvik::cli
