#include "cli/repl/chat_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/suggest.h"
#include "cli/terminal.h"

namespace kvik::cli {
namespace {

constexpr size_t kMostStops = 16;

// \n and \t as they are written in programs, since a stop text may need them.
std::string unescaped(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
        if (next == 'n' || next == 't' || next == '\\') {
            out += next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
            ++i;
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const char letter = c == '\n' ? 'n' : c == '\t' ? 't' : c == '\\' ? '\\' : '\0';
        if (letter != '\0') {
            out += {'\\', letter};
        } else {
            out += c;
        }
    }
    return out;
}

Result<void> set_stop(ChatSettings& settings, std::string_view value) {
    std::vector<std::string>& stops = settings.answer.stop;
    if (value == "off") {
        stops.clear();
        return {};
    }
    std::string stop = unescaped(value);
    if (stop.empty()) return fail(ErrorKind::usage, "a stop text is not empty");
    if (std::find(stops.begin(), stops.end(), stop) != stops.end()) return {};
    if (stops.size() == kMostStops)
        return fail(ErrorKind::usage, "at most 16 stop texts: /set stop off forgets them");
    stops.push_back(std::move(stop));
    return {};
}

std::string describe_stops(const ChatSettings& settings) {
    if (settings.answer.stop.empty()) return "off";
    std::vector<std::string> shown;
    for (const std::string& stop : settings.answer.stop) shown.push_back(escaped(stop));
    return fmt::format("{}", fmt::join(shown, " | "));
}

std::string describe_bias(const ChatSettings& settings) {
    std::string text;
    for (const auto& [id, bias] : settings.sampling.logit_bias)
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", id, bias);
    return text.empty() ? "off" : text;
}

Result<void> set_bias(ChatSettings& settings, std::string_view value) {
    if (value != "off") return set_logit_bias(value, settings.sampling);
    settings.sampling.logit_bias.clear();
    return {};
}

Result<void> set_length(ChatSettings& settings, std::string_view value) {
    const bool is_off = value == "off" || value == "-1";
    if (!is_off) return into(settings.answer.max_new_tokens, {0, UINT32_MAX - 1})(value);
    settings.answer.max_new_tokens = UINT32_MAX;
    return {};
}

std::string describe_length(const ChatSettings& settings) {
    const uint32_t n = settings.answer.max_new_tokens;
    return n == UINT32_MAX ? "off" : fmt::format("{}", n);
}

template <auto Field>
std::string number(const ChatSettings& settings) {
    return fmt::format("{}", settings.sampling.*Field);
}

// The ranges are the sampler's own.
template <auto Field>
Result<void> real(ChatSettings& settings, std::string_view value) {
    float number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size())
        return fail(ErrorKind::usage, fmt::format("'{}' is not a number", value));
    SamplingParams changed = settings.sampling;
    changed.*Field = number;
    KVIK_TRY_VOID(validate(changed, UINT32_MAX));
    settings.sampling = std::move(changed);
    return {};
}

std::string seed_of(const ChatSettings& settings) {
    return fmt::format("{}", settings.sampling.seed.value_or(0));
}

Result<void> set_seed(ChatSettings& settings, std::string_view value) {
    KVIK_TRY(settings.sampling.seed, parse_whole(value, {0, UINT64_MAX}));
    return {};
}
Result<void> set_top_k(ChatSettings& settings, std::string_view value) {
    return into(settings.sampling.top_k, {0, INT32_MAX})(value);
}

template <class T>
std::string word_of(T value, const std::vector<Choice<T>>& choices) {
    for (const auto& choice : choices)
        if (choice.value == value) return std::string(choice.word);
    return "";
}

std::string describe_overflow(const ChatSettings& settings) {
    return word_of(settings.session.overflow, overflow_choices());
}
Result<void> set_overflow(ChatSettings& settings, std::string_view value) {
    return choose(settings.session.overflow, overflow_choices())(value);
}
std::string describe_invalidation(const ChatSettings& settings) {
    return word_of(settings.session.invalidation, invalidation_choices());
}
Result<void> set_invalidation(ChatSettings& settings, std::string_view value) {
    return choose(settings.session.invalidation, invalidation_choices())(value);
}

}  // namespace

std::vector<Choice<Overflow>> overflow_choices() {
    return {{"error", Overflow::error}, {"truncate", Overflow::truncate_oldest}};
}

std::vector<Choice<Invalidation>> invalidation_choices() {
    return {{"full", Invalidation::full},
            {"partial", Invalidation::partial},
            {"lazy", Invalidation::lazy}};
}

std::vector<Setting> all_settings() {
    using P = SamplingParams;
    return {
        {"temp", "temperature; 0 takes the likeliest token", number<&P::temperature>,
         real<&P::temperature>},
        {"top_k", "only the likeliest so many; 0 is off", number<&P::top_k>, set_top_k},
        {"top_p", "only the likeliest that make up so much; 1 is off", number<&P::top_p>,
         real<&P::top_p>},
        {"min_p", "only those with so much of the likeliest one's probability", number<&P::min_p>,
         real<&P::min_p>},
        {"seed", "of the random choices: the same seed, the same answer", seed_of, set_seed},
        {"n", "most tokens of an answer; off", describe_length, set_length},
        {"repeat_penalty", "divides the logits of tokens seen; 1 is off",
         number<&P::repeat_penalty>, real<&P::repeat_penalty>},
        {"presence_penalty", "subtracted from the logits of tokens seen",
         number<&P::presence_penalty>, real<&P::presence_penalty>},
        {"frequency_penalty", "subtracted for each time seen", number<&P::frequency_penalty>,
         real<&P::frequency_penalty>},
        {"logit_bias", "ID:B,... added to logits; off", describe_bias, set_bias},
        {"stop", "one more text that ends answers (\\n is a line end); off", describe_stops,
         set_stop},
        {"overflow", "of a full context: error, or truncate: the oldest messages are left out",
         describe_overflow, set_overflow},
        {"invalidation", "of KV that an edit leaves behind: full, partial or lazy",
         describe_invalidation, set_invalidation},
    };
}

Result<Setting> find_setting(std::string_view name) {
    std::string word(name.substr(std::min(name.find_first_not_of('-'), name.size())));
    std::replace(word.begin(), word.end(), '-', '_');
    if (word == "temperature") word = "temp";
    if (word == "num_predict") word = "n";  // Ollama's
    std::vector<std::string> names;
    for (Setting& setting : all_settings()) {
        if (setting.name == word) return setting;
        names.emplace_back(setting.name);
    }
    const auto meant = nearest(word, names);
    return fail(ErrorKind::usage,
                fmt::format("{} is no setting: {}", name,
                            meant ? fmt::format("did you mean {}?", *meant)
                                  : fmt::format("there are {}", fmt::join(names, ", "))));
}

Result<void> set(ChatSettings& settings, std::string_view name, std::string_view value) {
    KVIK_TRY(const Setting setting, find_setting(name));
    auto done = setting.set(settings, value);
    if (!done) done.error().message = fmt::format("{}: {}", setting.name, done.error().message);
    return done;
}

}  // namespace kvik::cli
