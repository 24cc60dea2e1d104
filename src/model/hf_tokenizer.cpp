#include "model/hf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/mapped_file.h"
#include "formats/json.h"
#include "model/hf_tokenizer_json.h"
#include "model/hf_tokenizer_steps.h"
#include "model/hf_tokenizer_vocab.h"
#include "model/hf_vocab_files.h"
#include "model/sentencepiece_model.h"
#include "text/bpe_alphabet.h"
#include "text/utf8.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTokenizerFile = "tokenizer.json";
constexpr std::string_view kConfigFile = "tokenizer_config.json";
constexpr std::string_view kPiecesFile = "tokenizer.model";
constexpr std::string_view kGenerationFile = "generation_config.json";

std::string path_in(const std::string& directory, std::string_view name) {
    return fmt::format("{}{}{}", directory, directory.ends_with('/') ? "" : "/", name);
}

// Nothing: there is no such file. A link that leads nowhere is one: its file is lost, not left out.
Result<std::optional<std::string>> open_if_there(const std::string& directory,
                                                 std::string_view name) {
    const std::string path = path_in(directory, name);
    std::error_code error;
    if (std::filesystem::symlink_status(path, error).type() ==
        std::filesystem::file_type::not_found)
        return std::nullopt;
    KVIK_TRY(std::string text, read_whole_file(path, kMaxJsonBytes));
    return text;
}

std::optional<std::string_view> text_of(const std::optional<std::string>& file) {
    if (!file) return std::nullopt;
    return std::string_view(*file);
}

// "BPE" or "Unigram"; files from before the field was written are told by what else they have.
Result<std::string> model_type(const HfJson& model) {
    KVIK_TRY(std::string type, model.text("type"));
    if (type.empty() && model.json().contains("merges")) type = "BPE";
    if (type.empty() && model.json().contains("unk_id")) type = "Unigram";
    if (type == "BPE" || type == "Unigram") return type;
    return model.unsupported(fmt::format("is of the type '{}'", shown(type)));
}

// Settings that change what a BPE model does, and that none of the supported families uses.
Result<void> refuse_unusual(const HfJson& model) {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        KVIK_TRY(const std::string text, model.text(key));
        if (!text.empty()) return model.unsupported(fmt::format("has a {}", key));
    }
    KVIK_TRY(const std::optional<HfJson> dropout, model.find("dropout"));
    if (dropout && (!dropout->json().is_number() || dropout->json().get<double>() != 0))
        return dropout->unsupported("asks for random merges");
    return {};
}

void mark_byte_tokens(HfVocab& vocab) {
    for (size_t i = 0; i < vocab.tokens.size(); ++i) {
        const std::string& token = vocab.tokens[i];
        constexpr std::string_view kHex = "0123456789ABCDEF";
        if (vocab.types[i] == TokenType::normal && token.size() == 6 && token.starts_with("<0x") &&
            token[5] == '>' && kHex.find(token[3]) != kHex.npos && kHex.find(token[4]) != kHex.npos)
            vocab.types[i] = TokenType::byte;
    }
}

bool has_every_byte(const HfVocab& vocab) {
    std::bitset<256> seen;
    std::string bytes;
    for (const std::string& token : vocab.tokens) {
        if (token.size() > 2) continue;
        bytes.clear();
        append_spelled_bytes(token, bytes);
        if (bytes.size() == 1) seen.set(static_cast<uint8_t>(bytes[0]));
    }
    return seen.all();
}

Result<std::optional<TokenId>> read_unknown(const HfJson& model, const HfVocab& vocab,
                                            bool is_unigram) {
    KVIK_TRY(const std::optional<HfJson> unknown, model.find(is_unigram ? "unk_id" : "unk_token"));
    if (!unknown) return std::nullopt;
    if (is_unigram) {
        KVIK_TRY(const TokenId id, unknown->as_id(vocab.tokens.size()));
        return id;
    }
    KVIK_TRY(const std::string token, unknown->as_text());
    const std::optional<TokenId> id = vocab.find(token);
    if (!id) return unknown->lie(fmt::format("is '{}', which is not a token", shown(token)));
    return id;
}

Result<TokenizerSpec> read_model(const HfJson& root, HfSteps& steps) {
    KVIK_TRY(const HfJson model, root.require("model"));
    KVIK_TRY(const std::string type, model_type(model));
    const bool is_unigram = type == "Unigram";
    KVIK_TRY_VOID(refuse_unusual(model));
    TokenizerSpec spec;
    spec.source = root.file();
    spec.model = steps.is_byte_level ? "gpt2" : is_unigram ? "unigram" : "llama";
    if (is_unigram && steps.is_byte_level)
        return model.unsupported("is a Unigram model over bytes");
    if (!steps.is_byte_level && !steps.marks_spaces)
        return model.unsupported("has neither bytes nor U+2581 for its spaces");
    if (!steps.is_byte_level && !steps.splits.empty())
        return model.unsupported("is split by an expression without being over bytes");

    KVIK_TRY(HfVocab vocab,
             read_hf_vocab(root, model, is_unigram ? HfVocabForm::scores : HfVocabForm::ids));
    KVIK_TRY(const bool byte_fallback, model.flag("byte_fallback", false));
    if (byte_fallback && !steps.is_byte_level) mark_byte_tokens(vocab);
    KVIK_TRY(spec.unk, read_unknown(model, vocab, is_unigram));
    if (spec.unk) vocab.types[static_cast<size_t>(*spec.unk)] = TokenType::unknown;
    if (spec.unk && steps.is_byte_level && !has_every_byte(vocab))
        return model.unsupported("is over bytes, lacks some and has an unknown token for them");
    if (!is_unigram) {
        KVIK_TRY(spec.merges, read_hf_merges(model, vocab));
    }
    KVIK_TRY(spec.fuses_unknown, model.flag("fuse_unk", is_unigram));
    KVIK_TRY(spec.ignore_merges, model.flag("ignore_merges", false));
    spec.tokens = std::move(vocab.tokens);
    spec.types = std::move(vocab.types);
    spec.rules = std::move(vocab.rules);
    spec.scores = std::move(vocab.scores);
    spec.splits = std::move(steps.splits);
    spec.steps = std::move(steps.normalizer);
    spec.space_prefix = steps.space_prefix;
    spec.splits_at_spaces = steps.splits_at_spaces;
    spec.special_mark = SpaceMark::itself;
    return spec;
}

// "bos_token": a string, or an object with its content.
Result<std::optional<TokenId>> read_named(const HfJson& config, const TokenizerSpec& spec,
                                          std::string_view key) {
    KVIK_TRY(const std::optional<HfJson> value, config.find(key));
    if (!value) return std::nullopt;
    HfJson name = *value;
    if (name.json().is_object()) {
        KVIK_TRY(name, value->require("content"));
    }
    KVIK_TRY(const std::string token, name.as_text());
    if (token.empty()) return std::nullopt;
    const auto found = std::find(spec.tokens.begin(), spec.tokens.end(), token);
    if (found == spec.tokens.end())
        return name.lie(
            fmt::format("is '{}', which is not a token of {}", shown(token), kTokenizerFile));
    return static_cast<TokenId>(found - spec.tokens.begin());
}

Result<void> read_config(const HfJson& config, TokenizerSpec& spec) {
    KVIK_TRY(const std::optional<TokenId> bos, read_named(config, spec, "bos_token"));
    KVIK_TRY(spec.eos, read_named(config, spec, "eos_token"));
    if (!spec.bos) spec.bos = bos;
    KVIK_TRY(spec.add_bos, config.flag("add_bos_token", spec.add_bos));
    if (spec.add_bos && !spec.bos) return config.lie("has add_bos_token, but no bos_token");
    return {};
}

// One end token or a list of them: the first is eos unless the tokenizer names another, the next
// one eot.
Result<void> read_generation(const HfJson& config, TokenizerSpec& spec) {
    KVIK_TRY(const std::optional<HfJson> ends, config.find("eos_token_id"));
    if (!ends) return {};
    std::vector<HfJson> list;
    if (ends->json().is_array())
        for (size_t i = 0; i < ends->json().size(); ++i) list.push_back(ends->at(i));
    else
        list.push_back(*ends);
    for (const HfJson& one : list) {
        KVIK_TRY(const TokenId id, one.as_id(spec.tokens.size()));
        if (!spec.eos)
            spec.eos = id;
        else if (spec.eos != id && !spec.eot)
            spec.eot = id;
        else if (spec.eos != id && spec.eot != id)
            spec.ends.push_back(id);
    }
    return {};
}

}  // namespace

Result<TokenizerSpec> tokenizer_from_hf(const HfTokenizerFiles& files) {
    const std::string file = path_in(files.directory, kTokenizerFile);
    KVIK_TRY(const Json json, parse_json(files.tokenizer, file));
    const HfJson root(json, file);
    KVIK_TRY(HfSteps steps, read_hf_steps(root));
    KVIK_TRY(TokenizerSpec spec, read_model(root, steps));
    if (steps.bos) {
        KVIK_TRY(spec.bos, steps.bos->as_id(spec.tokens.size()));
        spec.add_bos = true;
    }
    if (files.tokenizer_config) {
        const std::string name = path_in(files.directory, kConfigFile);
        KVIK_TRY(const Json config, parse_json(*files.tokenizer_config, name));
        KVIK_TRY_VOID(read_config(HfJson(config, name), spec));
    }
    if (files.generation_config) {
        const std::string name = path_in(files.directory, kGenerationFile);
        KVIK_TRY(const Json config, parse_json(*files.generation_config, name));
        KVIK_TRY_VOID(read_generation(HfJson(config, name), spec));
    }
    return spec;
}

// What older directories have instead of tokenizer.json, as a tokenizer.json.
struct OlderFiles {
    std::string tokenizer;
    bool spaces_around_control = false;
};

static Result<std::optional<OlderFiles>> open_older_files(const std::string& directory) {
    KVIK_TRY(const auto tokenizer_config, open_if_there(directory, kConfigFile));
    KVIK_TRY(const auto pieces, open_if_there(directory, kPiecesFile));
    if (pieces) {
        KVIK_TRY(const SentencePieceModel model,
                 read_sentencepiece(*pieces, path_in(directory, kPiecesFile)));
        KVIK_TRY(std::string text, tokenizer_json_of(model, text_of(tokenizer_config),
                                                     path_in(directory, kConfigFile)));
        KVIK_TRY(const bool has_spaces, has_space_around_control(model, text_of(tokenizer_config),
                                                                 path_in(directory, kConfigFile)));
        return OlderFiles{std::move(text), has_spaces};
    }
    KVIK_TRY(const auto vocab, open_if_there(directory, "vocab.json"));
    KVIK_TRY(const auto merges, open_if_there(directory, "merges.txt"));
    if (!vocab || !merges) return std::nullopt;
    KVIK_TRY(const auto config, open_if_there(directory, "config.json"));
    KVIK_TRY(std::string text,
             tokenizer_json_of(HfVocabFiles{directory, *vocab, *merges, text_of(tokenizer_config),
                                            text_of(config)}));
    return OlderFiles{std::move(text)};
}

Result<std::optional<TokenizerSpec>> tokenizer_from_hf(const std::string& directory) {
    KVIK_TRY(auto tokenizer, open_if_there(directory, kTokenizerFile));
    bool spaces_around_control = false;
    if (!tokenizer) {
        KVIK_TRY(std::optional<OlderFiles> older, open_older_files(directory));
        if (older) tokenizer = std::move(older->tokenizer);
        spaces_around_control = older && older->spaces_around_control;
    }
    if (!tokenizer) return std::nullopt;
    KVIK_TRY(const auto config, open_if_there(directory, kConfigFile));
    KVIK_TRY(const auto generation, open_if_there(directory, kGenerationFile));
    KVIK_TRY(TokenizerSpec spec, tokenizer_from_hf(HfTokenizerFiles{
                                     directory, *tokenizer, text_of(config), text_of(generation)}));
    if (spaces_around_control) spec.space_prefix = SpacePrefix::around_control;
    return spec;
}

}  // namespace kvik
