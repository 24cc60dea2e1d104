#include "lab/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvik::lab {
namespace {

std::string quoted(const std::string& cell) {
    if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
    std::string out = "\"";
    for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + quoted(cells[i]);
    return line + "\n";
}

}  // namespace

std::string text_table(const Table& table) {
    std::vector<size_t> widths;
    for (const std::string& column : table.columns) widths.push_back(column.size());
    for (const auto& row : table.rows)
        for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    const auto line = [&](const std::vector<std::string>& cells) {
        std::string text = fmt::format("{:<{}}", cells[0], widths[0]);
        for (size_t i = 1; i < cells.size(); ++i)
            text += fmt::format("  {:>{}}", cells[i], widths[i]);
        return text + "\n";
    };
    std::string text = line(table.columns);
    for (const auto& row : table.rows) text += line(row);
    return text;
}

std::string csv_text(const Table& table) {
    std::string text = csv_line(table.columns);
    for (const auto& row : table.rows) text += csv_line(row);
    return text;
}

}  // namespace kvik::lab
