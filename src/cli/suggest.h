// suggest: the nearest known word to one that was mistyped.
//
// Source  Damerau-Levenshtein distance in its "optimal string alignment" form: insertions,
//         deletions, substitutions and swaps of neighbours cost 1 each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kvik::cli {

uint32_t edit_distance(std::string_view a, std::string_view b);

// Nothing if no word is near: at most one edit for each three letters (one at least), or one word
// that begins the other.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known);

}  // namespace kvik::cli
