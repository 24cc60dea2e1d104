#include "hub/file_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

namespace kvik::hub {
namespace {

constexpr uint32_t kPartDigits = 5;
constexpr uint32_t kMostParts = 10'000;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    return out;
}

// The name of a weight type: Q4_K_M, IQ2_XXS, TQ1_0, F16, BF16, MXFP4, ...
bool is_quant(std::string_view word) {
    constexpr std::array<std::string_view, 8> kWhole = {"F16",  "F32", "BF16",  "FP16",
                                                        "FP32", "FP8", "MXFP4", "NVFP4"};
    if (std::find(kWhole.begin(), kWhole.end(), word) != kWhole.end()) return true;
    if (word == "MXFP4_MOE") return true;
    if (word.starts_with('I') || word.starts_with('T')) word.remove_prefix(1);
    if (word.size() < 2 || word[0] != 'Q' || !is_digit(word[1])) return false;
    word.remove_prefix(2);
    constexpr std::array<std::string_view, 13> kEnds = {"0", "1",  "4",   "8",  "K",  "S", "M",
                                                        "L", "XS", "XXS", "XL", "NL", "P"};
    while (!word.empty()) {
        if (word[0] != '_') return false;
        word.remove_prefix(1);
        const size_t end = std::min(word.find('_'), word.size());
        if (std::find(kEnds.begin(), kEnds.end(), word.substr(0, end)) == kEnds.end()) return false;
        word.remove_prefix(end);
    }
    return true;
}

// The words of a path: what lies between its slashes, dots and dashes.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const size_t end = std::min(text.find_first_of("/.-"), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

// The end of "tinyllama_q4_k_m" that is the name of a type.
std::string_view quant_at_end(std::string_view word) {
    for (size_t at = 0; at < word.size(); ++at) {
        const bool begins = at == 0 || word[at - 1] == '_';
        if (begins && is_quant(word.substr(at))) return word.substr(at);
    }
    return {};
}

}  // namespace

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return out;
}

std::string quant_of(std::string_view file) {
    const std::string name = upper(file);
    std::string found;
    std::string_view before;
    for (const std::string_view word : words_of(name)) {
        if (const auto quant = quant_at_end(word); !quant.empty())
            found = before == "UD" ? fmt::format("UD-{}", quant) : std::string(quant);
        before = word;
    }
    return found;
}

bool has_quant(std::string_view file, std::string_view quant) {
    const std::string name = upper(file), wanted = upper(quant);
    if (wanted.empty()) return false;
    for (size_t at = name.find(wanted); at != name.npos; at = name.find(wanted, at + 1)) {
        const size_t end = at + wanted.size();
        const bool begins = at == 0 || !is_word(name[at - 1]);
        const bool ends = end == name.size() || (!is_word(name[end]) && name[end] != '_');
        if (begins && ends) return true;
    }
    return false;
}

std::string PartName::part(uint32_t n) const {
    return fmt::format("{}-{:05}-of-{:05}{}", before, n, count, after);
}

std::optional<PartName> part_of(std::string_view file) {
    const size_t dot = file.rfind('.');
    if (dot == file.npos) return std::nullopt;
    const std::string_view stem = file.substr(0, dot);
    constexpr size_t kTail = 1 + kPartDigits + 4 + kPartDigits;  // -00002-of-00003
    if (stem.size() < kTail) return std::nullopt;
    const std::string_view tail = stem.substr(stem.size() - kTail);
    const std::string_view index = tail.substr(1, kPartDigits), count = tail.substr(10);
    const auto all_digits = [](std::string_view text) {
        return std::all_of(text.begin(), text.end(), is_digit);
    };
    if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || !all_digits(index) || !all_digits(count))
        return std::nullopt;
    PartName name{.before = std::string(stem.substr(0, stem.size() - kTail)),
                  .after = std::string(file.substr(dot))};
    std::from_chars(index.data(), index.data() + index.size(), name.index);
    std::from_chars(count.data(), count.data() + count.size(), name.count);
    if (name.index == 0 || name.index > name.count || name.count > kMostParts) return std::nullopt;
    return name;
}

bool is_gguf_model(std::string_view file) {
    const std::string name = lower(file.substr(file.rfind('/') + 1));
    return name.ends_with(".gguf") && name.find("mmproj") == name.npos &&
           name.find("imatrix") == name.npos;
}

std::vector<FileSet> group_parts(std::span<const std::string> files) {
    std::map<std::string, FileSet> sets;  // by first part
    for (const std::string& file : files) {
        const auto part = part_of(file);
        FileSet& set = sets[part ? part->part(1) : file];
        if (set.files.empty()) set.n_missing = part ? part->count : 1;
        set.files.push_back(file);
        --set.n_missing;
    }
    std::vector<FileSet> out;
    for (auto& [first, set] : sets) {
        set.first = first;
        std::sort(set.files.begin(), set.files.end());
        out.push_back(std::move(set));
    }
    return out;
}

}  // namespace kvik::hub
