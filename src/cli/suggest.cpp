#include "cli/suggest.h"

#include <algorithm>
#include <array>
#include <vector>

namespace kvik::cli {

uint32_t edit_distance(std::string_view a, std::string_view b) {
    // Rows i - 2, i - 1 and i of the table d[i][j] = distance(a[0, i), b[0, j)).
    std::array<std::vector<uint32_t>, 3> rows;
    for (auto& row : rows) row.resize(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<uint32_t>(j);
    for (size_t i = 1; i <= a.size(); ++i) {
        const auto& before = rows[(i + 1) % 3];  // i - 2
        const auto& above = rows[(i - 1) % 3];
        auto& row = rows[i % 3];
        row[0] = static_cast<uint32_t>(i);
        for (size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                {above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return rows[a.size() % 3][b.size()];
}

static ptrdiff_t n_letters(std::string_view word) {
    return std::count_if(word.begin(), word.end(), [](char c) { return c != '-' && c != '/'; });
}

// --temp for --temperature, --system for --sys: the shorter of the two has three letters at least.
static std::optional<std::string> prefix_of(std::string_view word,
                                            std::span<const std::string> known) {
    for (const std::string& candidate : known) {
        const std::string_view other = candidate;
        const std::string_view shorter = word.size() < other.size() ? word : other;
        const std::string_view longer = word.size() < other.size() ? other : word;
        if (longer.starts_with(shorter) && n_letters(shorter) >= 3) return candidate;
    }
    return std::nullopt;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> known) {
    const uint32_t most = std::max<uint32_t>(1, static_cast<uint32_t>(n_letters(word)) / 3);
    uint32_t best = most + 1;
    std::optional<std::string> found;
    for (const std::string& candidate : known) {
        const uint32_t distance = edit_distance(word, candidate);
        if (distance >= best) continue;
        best = distance;
        found = candidate;
    }
    return found ? found : prefix_of(word, known);
}

}  // namespace kvik::cli
