#include "model/hf_end_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/json.h"
#include "model/hf_files.h"
#include "model/hf_tokenizer_json.h"

namespace kvik {
namespace {

constexpr std::string_view kEnd = "eos_token_id";
constexpr size_t kMaxEnds = 1024;

// The class's end token where config.json has no such field; other classes have none.
struct ClassEnd {
    std::string_view model_type;
    TokenId end = 0;
};
constexpr std::array kClassEnds = {ClassEnd{"llama", 2}, ClassEnd{"mistral", 2},
                                   ClassEnd{"gemma3_text", 1}, ClassEnd{"gemma3", 1},
                                   ClassEnd{"gpt2", 50256}};

Result<void> add_end(const HfJson& one, std::vector<TokenId>& ends) {
    const nlohmann::json& json = one.json();
    if (!json.is_number_integer())
        return one.lie(fmt::format("is {}, not a token's id", json.type_name()));
    const int64_t id = json.get<int64_t>();
    if (id < 0 || id > INT32_MAX) return {};
    const TokenId end = static_cast<TokenId>(id);
    if (std::find(ends.begin(), ends.end(), end) == ends.end()) ends.push_back(end);
    return {};
}

Result<std::vector<TokenId>> read_ends(const HfJson& value) {
    std::vector<TokenId> ends;
    if (!value.json().is_array()) {
        KVIK_TRY_VOID(add_end(value, ends));
        return ends;
    }
    KVIK_TRY(const size_t n, value.size());
    if (n > kMaxEnds)
        return value.lie(fmt::format("has {} end tokens, {} can be used", n, kMaxEnds));
    for (size_t i = 0; i < n; ++i) KVIK_TRY_VOID(add_end(value.at(i), ends));
    return ends;
}

Result<std::vector<TokenId>> ends_of_config(const HfJson& config) {
    KVIK_TRY(const auto own, config.find(kEnd));
    if (own) return read_ends(*own);
    KVIK_TRY(const auto text_config, config.find("text_config"));
    if (text_config && text_config->json().is_object()) {
        KVIK_TRY(const auto of_text, text_config->find(kEnd));
        if (of_text) return read_ends(*of_text);
    }
    const nlohmann::json& json = config.json();
    const auto type = json.find("model_type");
    if (type == json.end() || !type->is_string()) return std::vector<TokenId>();
    // null says that there is none; of gemma3 its text_config says so.
    const bool is_nested = *type == "gemma3";
    if (is_nested ? text_config && text_config->json().contains(kEnd) : json.contains(kEnd))
        return std::vector<TokenId>();
    for (const ClassEnd& of_class : kClassEnds)
        if (of_class.model_type == type->get_ref<const std::string&>())
            return std::vector<TokenId>{of_class.end};
    return std::vector<TokenId>();
}

}  // namespace

Result<std::vector<TokenId>> end_tokens_from_hf(const HfEndFiles& files) {
    if (files.generation_config) {
        const std::string file = path_in(files.directory, "generation_config.json");
        KVIK_TRY(const nlohmann::json json, parse_json(*files.generation_config, file));
        KVIK_TRY(const auto ends, HfJson(json, file).find(kEnd));
        if (ends) return read_ends(*ends);
        return std::vector<TokenId>();
    }
    if (!files.config) return std::vector<TokenId>();
    const std::string file = path_in(files.directory, "config.json");
    KVIK_TRY(const nlohmann::json json, parse_json(*files.config, file));
    return ends_of_config(HfJson(json, file));
}

Result<std::vector<TokenId>> end_tokens_from_hf(const std::string& directory) {
    KVIK_TRY(const auto generation, open_if_there(directory, "generation_config.json"));
    KVIK_TRY(const auto config, open_if_there(directory, "config.json"));
    return end_tokens_from_hf(HfEndFiles{directory, text_of(generation), text_of(config)});
}

}  // namespace kvik
