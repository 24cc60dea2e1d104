#include "model/hf_vocab_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/json.h"
#include "model/hf_tokenizer_json.h"
#include "text/pretokenizer_patterns.h"
#include "text/utf8.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxAddedTokens = 1 << 16;

std::string path_in(const std::string& directory, std::string_view name) {
    return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

Result<Json> parse_if_there(const HfVocabFiles& files, std::optional<std::string_view> text,
                            std::string_view name) {
    if (!text) return Json::object();
    return parse_json(*text, path_in(files.directory, name));
}

enum class Family { gpt2, qwen2 };

Result<Family> family_of(const HfJson& tokenizer_config, const HfJson& config) {
    KVIK_TRY(std::string name, tokenizer_config.text("tokenizer_class"));
    if (name.ends_with("Fast")) name.resize(name.size() - 4);
    if (name.empty()) {
        KVIK_TRY(const std::string model, config.text("model_type"));
        if (model == "gpt2") return Family::gpt2;
        if (model == "qwen2" || model == "qwen3") return Family::qwen2;
        return tokenizer_config.unsupported(
            "names no tokenizer_class, and vocab.json alone does not say how a text is cut");
    }
    if (name == "GPT2Tokenizer") return Family::gpt2;
    if (name == "Qwen2Tokenizer") return Family::qwen2;
    return tokenizer_config.unsupported(fmt::format(
        "has the tokenizer_class '{}' with vocab.json and merges.txt, without tokenizer.json",
        shown(name)));
}

Result<Json> read_merges(const HfVocabFiles& files) {
    Json merges = Json::array();
    std::string_view rest = files.merges;
    for (size_t line_number = 1; !rest.empty(); ++line_number) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.starts_with("#version")) continue;
        const size_t gap = line.find(' ');
        if (gap == 0 || gap == line.npos || gap + 1 == line.size() ||
            line.find(' ', gap + 1) != line.npos || utf8_valid_prefix(line) != line.size())
            return fail(ErrorKind::file,
                        fmt::format("{}: line {} is not two tokens: fetch it again",
                                    path_in(files.directory, "merges.txt"), line_number));
        merges.emplace_back(line);
    }
    return merges;
}

// added_tokens_decoder: "id" -> {content, special, ...}, the form of added_tokens but for the id.
Result<Json> read_added(const HfJson& tokenizer_config) {
    Json added = Json::array();
    KVIK_TRY(const auto decoder, tokenizer_config.find("added_tokens_decoder"));
    if (!decoder) return added;
    if (!decoder->json().is_object() || decoder->json().size() > kMaxAddedTokens)
        return decoder->lie(
            fmt::format("is not an object of up to {} added tokens", kMaxAddedTokens));
    for (const auto& [key, token] : decoder->json().items()) {
        const bool is_number = !key.empty() && key.size() < 10 &&
                               key.find_first_not_of("0123456789") == std::string::npos;
        if (!is_number || !token.is_object())
            return decoder->lie(
                fmt::format("has '{}', which is not the id of a token", shown(key)));
        Json with_id = token;
        with_id["id"] = std::stoi(key);
        added.push_back(std::move(with_id));
    }
    return added;
}

// The class marks its special tokens even where no file adds them.
Result<void> add_specials(const HfJson& tokenizer_config, const Json& vocab, Json& added) {
    for (const char* role : {"bos_token", "eos_token", "unk_token", "pad_token"}) {
        std::string content = role == std::string_view("bos_token") ? "" : "<|endoftext|>";
        KVIK_TRY(const auto said, tokenizer_config.find(role));
        if (said && said->json().is_object()) {
            KVIK_TRY(content, said->text("content"));
        } else if (said) {
            KVIK_TRY(content, said->as_text());
        }
        const auto found = vocab.find(content);
        if (content.empty() || found == vocab.end()) continue;
        bool is_there = false;
        for (const Json& token : added)
            is_there = is_there || token.value("content", "") == content;
        if (!is_there)
            added.push_back(
                {{"id", *found}, {"content", content}, {"special", true}, {"normalized", false}});
    }
    return {};
}

Json pre_tokenizer_of(Family family, bool has_prefix) {
    const Json bytes = {{"type", "ByteLevel"},
                        {"add_prefix_space", has_prefix},
                        {"use_regex", family == Family::gpt2}};
    if (family == Family::gpt2) return bytes;
    const Json split = {{"type", "Split"},
                        {"pattern", {{"Regex", kQwen2Split}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
    return {{"type", "Sequence"}, {"pretokenizers", Json::array({split, bytes})}};
}

}  // namespace

Result<std::string> tokenizer_json_of(const HfVocabFiles& files) {
    const std::string vocab_name = path_in(files.directory, "vocab.json");
    KVIK_TRY(Json vocab, parse_json(files.vocab, vocab_name));
    if (!vocab.is_object())
        return HfJson(vocab, vocab_name).lie("is not an object of tokens and their ids");
    KVIK_TRY(const Json tokenizer_config,
             parse_if_there(files, files.tokenizer_config, "tokenizer_config.json"));
    KVIK_TRY(const Json config, parse_if_there(files, files.config, "config.json"));
    const HfJson settings(tokenizer_config, path_in(files.directory, "tokenizer_config.json"));
    KVIK_TRY(const Family family,
             family_of(settings, HfJson(config, path_in(files.directory, "config.json"))));
    KVIK_TRY(const bool has_prefix, settings.flag("add_prefix_space", false));
    KVIK_TRY(Json merges, read_merges(files));
    KVIK_TRY(Json added, read_added(settings));
    KVIK_TRY_VOID(add_specials(settings, vocab, added));
    Json root;
    root["added_tokens"] = std::move(added);
    if (family == Family::qwen2) root["normalizer"] = {{"type", "NFC"}};
    root["pre_tokenizer"] = pre_tokenizer_of(family, has_prefix);
    root["decoder"] = {{"type", "ByteLevel"}};
    root["model"] = {{"type", "BPE"}, {"vocab", std::move(vocab)}, {"merges", std::move(merges)}};
    return root.dump();
}

}  // namespace kvik
