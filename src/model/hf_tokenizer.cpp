#include "model/hf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/json.h"
#include "model/hf_added_tokens.h"
#include "model/hf_end_tokens.h"
#include "model/hf_files.h"
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
constexpr std::string_view kSpecialMapFile = "special_tokens_map.json";
constexpr std::string_view kAddedFile = "added_tokens.json";

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
        if (!text.empty()) return model.unsupported(fmt::format("sets {}", key));
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

Result<TokenizerSpec> read_model(const HfJson& root, HfSteps& steps, const HfAddedTokens& added) {
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
    KVIK_TRY_VOID(vocab.add(root, added.tokens));
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

// What tokenizer_config.json and the files beside it say of tokens that begin and end a text.
Result<void> read_names(const HfAddedTokens& added, const HfJson* config, TokenizerSpec& spec) {
    const auto id_of = [&](const std::optional<std::string>& name) -> std::optional<TokenId> {
        if (!name) return std::nullopt;
        const auto found = std::find(spec.tokens.begin(), spec.tokens.end(), *name);
        if (found == spec.tokens.end()) return std::nullopt;
        return static_cast<TokenId>(found - spec.tokens.begin());
    };
    spec.eos = id_of(added.eos);
    if (!spec.bos) spec.bos = id_of(added.bos);
    if (config == nullptr) return {};
    KVIK_TRY(spec.add_bos, config->flag("add_bos_token", spec.add_bos));
    if (spec.add_bos && !spec.bos) return config->lie("has add_bos_token, but no bos_token");
    return {};
}

// The first end token is eos unless the tokenizer names another, the next one eot. Those that the
// tokenizer does not have are the model's alone.
void read_ends(const std::vector<TokenId>& ends, TokenizerSpec& spec) {
    for (const TokenId id : ends) {
        if (static_cast<size_t>(id) >= spec.tokens.size()) continue;
        if (!spec.eos)
            spec.eos = id;
        else if (spec.eos != id && !spec.eot)
            spec.eot = id;
        else if (spec.eos != id && spec.eot != id)
            spec.ends.push_back(id);
    }
}

// A JSON file beside tokenizer.json, parsed.
struct Beside {
    Json json;
    std::optional<HfJson> value;  // nothing: there is no such file
};

Result<void> parse(const HfTokenizerFiles& files, std::optional<std::string_view> text,
                   std::string_view name, Beside& beside) {
    if (!text) return {};
    const std::string file = path_in(files.directory, name);
    KVIK_TRY(beside.json, parse_json(*text, file));
    beside.value = HfJson(beside.json, file);
    return {};
}

const HfJson* pointer(const Beside& beside) {
    return beside.value ? &*beside.value : nullptr;
}

// The tree above has its keys in alphabetical order.
std::vector<std::string> keys_in_order(std::optional<std::string_view> checked_json) {
    std::vector<std::string> keys;
    if (!checked_json) return keys;
    const auto tree = nlohmann::ordered_json::parse(*checked_json, nullptr, false);
    if (!tree.is_object()) return keys;
    for (const auto& item : tree.items()) keys.push_back(item.key());
    return keys;
}

}  // namespace

Result<TokenizerSpec> tokenizer_from_hf(const HfTokenizerFiles& files) {
    const std::string file = path_in(files.directory, kTokenizerFile);
    KVIK_TRY(const Json json, parse_json(files.tokenizer, file));
    const HfJson root(json, file);
    KVIK_TRY(HfSteps steps, read_hf_steps(root));
    Beside config, special_map, added_file;
    KVIK_TRY_VOID(parse(files, files.tokenizer_config, kConfigFile, config));
    KVIK_TRY_VOID(parse(files, files.special_tokens_map, kSpecialMapFile, special_map));
    KVIK_TRY_VOID(parse(files, files.added_tokens, kAddedFile, added_file));
    KVIK_TRY(const HfAddedTokens added,
             read_hf_added_tokens({&root, pointer(config), pointer(special_map),
                                   pointer(added_file), keys_in_order(files.tokenizer_config)}));
    KVIK_TRY(TokenizerSpec spec, read_model(root, steps, added));
    if (steps.bos) {
        KVIK_TRY(spec.bos, steps.bos->as_id(spec.tokens.size()));
        spec.add_bos = true;
    }
    KVIK_TRY_VOID(read_names(added, pointer(config), spec));
    KVIK_TRY(
        const std::vector<TokenId> ends,
        end_tokens_from_hf(HfEndFiles{files.directory, files.generation_config, files.config}));
    read_ends(ends, spec);
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
    KVIK_TRY(const auto tokenizer_config, open_if_there(directory, kConfigFile));
    KVIK_TRY(const auto special_map, open_if_there(directory, kSpecialMapFile));
    KVIK_TRY(const auto added, open_if_there(directory, kAddedFile));
    KVIK_TRY(const auto generation, open_if_there(directory, "generation_config.json"));
    KVIK_TRY(const auto config, open_if_there(directory, "config.json"));
    KVIK_TRY(TokenizerSpec spec,
             tokenizer_from_hf(HfTokenizerFiles{.directory = directory,
                                                .tokenizer = *tokenizer,
                                                .tokenizer_config = text_of(tokenizer_config),
                                                .generation_config = text_of(generation),
                                                .special_tokens_map = text_of(special_map),
                                                .added_tokens = text_of(added),
                                                .config = text_of(config)}));
    if (spaces_around_control) spec.space_prefix = SpacePrefix::around_control;
    return spec;
}

}  // namespace kvik
