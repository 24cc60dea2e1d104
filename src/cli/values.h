// Values of flags: text -> number, size or list, range-checked.
//
// Errors  ErrorKind::usage, naming the text and what was expected; whoever knows the flag puts its
//         name before (flags.h).
// Use     the `into` family makes the setters of a flag table: they write only a value that holds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace kvik::cli {

struct WholeRange {
    uint64_t min = 0;
    uint64_t max = UINT32_MAX;
};

Result<uint64_t> parse_whole(std::string_view text, WholeRange range);
Result<float> parse_float(std::string_view text);  // any number, -inf too
// Bytes: 123, 64K, 512M, 512m, 512MiB, 1G or 1.5G (powers of 1024).
Result<uint64_t> parse_bytes(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);

using Setter = std::function<Result<void>(std::string_view)>;

Setter turn_on(bool& target);
Setter into(std::string& target);
Setter into(std::optional<std::string>& target);
Setter into(uint32_t& target, WholeRange range);
Setter into(uint64_t& target, WholeRange range);
Setter into(std::vector<uint32_t>& target, WholeRange range);  // "1,2,4"
Setter into_bytes(uint64_t& target);
Setter refuse(std::string why);  // whatever the value is
Setter append_to(std::vector<std::string>& target);

// Keeps that a value was given, which its default does not tell.
template <class T>
Setter into_given(std::optional<T>& target, WholeRange range) {
    return [&target, range](std::string_view text) -> Result<void> {
        T value{};
        KVIK_TRY_VOID(into(value, range)(text));
        target = std::move(value);
        return {};
    };
}

// A word out of a list, and the value that it stands for.
template <class T>
struct Choice {
    std::string_view word;
    T value;
};

Error not_a_choice(std::string_view text, const std::vector<std::string_view>& words);

template <class T>
Setter choose(T& target, std::vector<Choice<std::type_identity_t<T>>> choices) {
    return [&target, choices = std::move(choices)](std::string_view text) -> Result<void> {
        std::vector<std::string_view> words;
        for (const auto& choice : choices) {
            words.push_back(choice.word);
            if (choice.word != text) continue;
            target = choice.value;
            return {};
        }
        return tl::unexpected(not_a_choice(text, words));
    };
}

}  // namespace kvik::cli
