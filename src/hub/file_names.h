// What the names of model files say: the quantisation, the parts of a split model, and which GGUF
// files are no models of their own.
//
// Use     pure functions of a name or of a path below a repository; case does not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvik::hub {

// "Q4_K_M", "UD-IQ2_XXS", "BF16", in capitals; empty: the name has none. The last one counts, as in
// "Q4_K_M/model-Q4_K_M.gguf".
std::string quant_of(std::string_view file);

// Whether the name has `quant` as a word of its own: "q4_0" is in "a-Q4_0.gguf", "Q4_K" not in
// "a-Q4_K_M.gguf".
bool has_quant(std::string_view file, std::string_view quant);

// "a-00002-of-00003.gguf": before = "a", index = 2, count = 3, after = ".gguf".
struct PartName {
    std::string before;
    uint32_t index = 0, count = 0;
    std::string after;

    std::string part(uint32_t n) const;  // the name of the n-th part, from 1
};
std::optional<PartName> part_of(std::string_view file);

// A GGUF that answers by itself: no projector (mmproj) and no importance matrix (imatrix).
bool is_gguf_model(std::string_view file);

// Files that make up one model: one file, or the parts of a split one.
struct FileSet {
    std::string first;               // the first part's name, also where that part is missing
    std::vector<std::string> files;  // those that are there, in order
    uint32_t n_missing = 0;          // parts
};

// The models among `files`, in the order of their first parts.
std::vector<FileSet> group_parts(std::span<const std::string> files);

std::string lower(std::string_view text);  // ASCII letters alone

}  // namespace kvik::hub
