#include "cli/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace kvik::cli {
namespace {

// 8.0 stays a fraction, so that it is refused where a whole number is wanted.
std::string float_text(double value) {
    std::string text = fmt::format("{}", value);
    const bool is_digits = text.find_first_not_of("-0123456789") == std::string::npos;
    return is_digits ? text + ".0" : text;
}

std::optional<std::string> scalar_text(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return text;
    if (const auto whole = node.value_exact<int64_t>()) return fmt::format("{}", *whole);
    if (const auto real = node.value_exact<double>()) return float_text(*real);
    return std::nullopt;
}

class Reader {
  public:
    explicit Reader(std::string_view name) : name_(name) {}

    Result<void> read(const toml::table& table, const std::string& table_name) {
        for (const auto& [key, node] : table) {
            const auto line = static_cast<uint32_t>(key.source().begin.line);
            const std::string name(key.str());
            const toml::table* inner = node.as_table();
            if (inner == nullptr) {
                KVIK_TRY_VOID(add({table_name, name, line}, node));
                continue;
            }
            if (!table_name.empty())
                return refuse(line, fmt::format("{}.{} is a table: a verb's table holds values",
                                                table_name, name));
            entries_.push_back({name, "", line});
            KVIK_TRY_VOID(read(*inner, name));
        }
        return {};
    }

    std::vector<TomlEntry> in_order_of_lines() {
        std::stable_sort(entries_.begin(), entries_.end(),
                         [](const auto& a, const auto& b) { return a.line < b.line; });
        return std::move(entries_);
    }

    tl::unexpected<Error> refuse(uint32_t line, std::string_view what) const {
        return fail(ErrorKind::usage, fmt::format("{}:{}: {}", name_, line, what));
    }

  private:
    Result<void> add(TomlEntry entry, const toml::node& node) {
        if (const auto flag = node.value_exact<bool>()) {
            entry.value = *flag;
        } else if (auto text = scalar_text(node)) {
            entry.value = std::move(*text);
        } else if (const toml::array* array = node.as_array()) {
            std::vector<std::string> list;
            for (const toml::node& element : *array) {
                auto part = scalar_text(element);
                if (!part)
                    return refuse(entry.line, fmt::format("{}: element {} is neither a text nor a "
                                                          "number",
                                                          entry.key, list.size()));
                list.push_back(std::move(*part));
            }
            entry.value = std::move(list);
        } else {
            return refuse(entry.line,
                          fmt::format("{}: dates and times set nothing here", entry.key));
        }
        entries_.push_back(std::move(entry));
        return {};
    }

    std::string_view name_;
    std::vector<TomlEntry> entries_;
};

}  // namespace

Result<std::vector<TomlEntry>> read_toml(std::string_view text, std::string_view name) {
    const toml::parse_result parsed = toml::parse(text, name);
    Reader reader(name);
    if (!parsed)
        return reader.refuse(static_cast<uint32_t>(parsed.error().source().begin.line),
                             fmt::format("not TOML: {}", parsed.error().description()));
    KVIK_TRY_VOID(reader.read(parsed.table(), ""));
    return reader.in_order_of_lines();
}

}  // namespace kvik::cli
