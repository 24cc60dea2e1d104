#include "model/hf_tokenizer_vocab.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "text/utf8.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

struct AddedToken {
    std::string content;
    HfJson where;
    TokenType type = TokenType::user_defined;
    FindRule rule;
};

Result<std::vector<AddedToken>> read_added(const HfJson& root) {
    std::vector<AddedToken> added;
    KVIK_TRY(const std::optional<HfJson> list, root.find("added_tokens"));
    if (!list) return added;
    KVIK_TRY(const size_t n, list->size());
    added.reserve(n);
    for (size_t i = 0; i < n; ++i) {
        AddedToken token{"", list->at(i), TokenType::user_defined, {}};
        KVIK_TRY(const HfJson content, token.where.require("content"));
        KVIK_TRY(token.content, content.as_text());
        if (token.content.empty()) return content.lie("is empty");
        KVIK_TRY(const bool is_special, token.where.flag("special", false));
        if (is_special) token.type = TokenType::control;
        KVIK_TRY(token.rule.takes_space_before, token.where.flag("lstrip", false));
        KVIK_TRY(token.rule.takes_space_after, token.where.flag("rstrip", false));
        KVIK_TRY(token.rule.normalized, token.where.flag("normalized", !is_special));
        KVIK_TRY(const bool single_word, token.where.flag("single_word", false));
        if (single_word)
            return token.where.unsupported(
                fmt::format("'{}' is for whole words alone (single_word)", shown(token.content)));
        added.push_back(std::move(token));
    }
    return added;
}

class VocabBuilder {
  public:
    // `n` is how many tokens there are.
    explicit VocabBuilder(size_t n) : filled_(n) {
        vocab_.tokens.resize(n);
        vocab_.types.resize(n, TokenType::control);
    }

    Result<void> put(const HfJson& where, TokenId id, std::string token) {
        const size_t i = static_cast<size_t>(id);
        if (filled_[i])
            return where.lie(fmt::format("gives '{}' the id {}, which '{}' has", shown(token), id,
                                         shown(vocab_.tokens[i])));
        filled_[i] = true;
        vocab_.tokens[i] = std::move(token);
        vocab_.types[i] = TokenType::normal;
        return {};
    }

    Result<void> mark(const AddedToken& token, TokenId id) {
        const size_t i = static_cast<size_t>(id);
        if (vocab_.types[i] != TokenType::normal)
            return token.where.lie(fmt::format("adds '{}' again", shown(token.content)));
        vocab_.types[i] = token.type;
        if (vocab_.rules.empty()) vocab_.rules.resize(vocab_.tokens.size());
        vocab_.rules[i] = token.rule;
        return {};
    }

    HfVocab& vocab() { return vocab_; }

  private:
    HfVocab vocab_;
    std::vector<bool> filled_;
};

Result<std::unordered_map<std::string_view, TokenId>> read_ids(const HfJson& list, HfVocabForm form,
                                                               size_t limit) {
    std::unordered_map<std::string_view, TokenId> ids;
    const Json& json = list.json();
    ids.reserve(json.size());
    if (form == HfVocabForm::ids) {
        for (auto item = json.begin(); item != json.end(); ++item) {
            const HfJson value(*item, list.file(),
                               fmt::format("{} '{}'", list.path(), shown(item.key())));
            KVIK_TRY(const TokenId id, value.as_id(limit));
            ids.emplace(item.key(), id);
        }
        return ids;
    }
    for (size_t i = 0; i < json.size(); ++i) {
        const Json& pair = json[i];
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number() ||
            !std::isfinite(pair[1].get<double>()))
            return list.at(i).lie("is not a token and its score");
        const std::string_view token = pair[0].get_ref<const std::string&>();
        const auto [other, is_new] = ids.emplace(token, static_cast<TokenId>(i));
        if (!is_new)
            return list.at(i).lie(
                fmt::format("'{}' is there already as [{}]", shown(token), other->second));
    }
    return ids;
}

}  // namespace

std::optional<TokenId> HfVocab::find(std::string_view token) const {
    const auto found = std::find(tokens.begin(), tokens.end(), token);
    if (found == tokens.end()) return std::nullopt;
    return static_cast<TokenId>(found - tokens.begin());
}

// As the tokenizers library gives ids to what is added: the first is the number of the model's own
// tokens, or one more than the highest that was added.
Result<void> HfVocab::add(const HfJson& root, const std::vector<HfToken>& added) {
    if (added.empty()) return {};
    std::unordered_map<std::string, TokenId> ids;
    ids.reserve(tokens.size());
    size_t next = n_model_tokens;
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].empty()) continue;
        ids.emplace(tokens[i], static_cast<TokenId>(i));
        if (types[i] != TokenType::normal) next = std::max(next, i + 1);
    }
    rules.resize(tokens.size());
    for (const HfToken& token : added) {
        if (token.content.empty()) continue;
        const auto [known, is_new] = ids.emplace(token.content, static_cast<TokenId>(next));
        const size_t i = static_cast<size_t>(known->second);
        if (i >= tokens.size()) {
            tokens.resize(i + 1);
            types.resize(i + 1, TokenType::control);
            rules.resize(i + 1);
            if (!scores.empty()) scores.resize(i + 1);
        }
        if (is_new && !tokens[i].empty())
            return root.unsupported(
                fmt::format("gets the token '{}' from a file beside it, whose id {} '{}' has",
                            shown(token.content), i, shown(tokens[i])));
        if (is_new) tokens[i] = token.content;
        next = std::max(next, i + 1);
        types[i] = token.is_special ? TokenType::control : TokenType::user_defined;
        rules[i] = {token.takes_space_before, token.takes_space_after, token.normalized};
    }
    return {};
}

Result<HfVocab> read_hf_vocab(const HfJson& root, const HfJson& model, HfVocabForm form) {
    KVIK_TRY(const HfJson list, model.require("vocab"));
    const bool fits = form == HfVocabForm::ids ? list.json().is_object() : list.json().is_array();
    if (!fits)
        return list.lie(form == HfVocabForm::ids ? "is not an object of tokens and their ids"
                                                 : "is not a list of tokens and their scores");
    KVIK_TRY(const std::vector<AddedToken> added, read_added(root));
    const size_t limit = list.json().size() + added.size() + kMaxGap;
    KVIK_TRY(const auto ids, read_ids(list, form, limit));
    std::unordered_set<std::string_view> fresh;
    size_t n = ids.size();  // one more than the highest id
    for (const auto& [token, id] : ids) n = std::max(n, static_cast<size_t>(id) + 1);
    for (const AddedToken& token : added) {
        KVIK_TRY(const HfJson where, token.where.require("id"));
        KVIK_TRY(const TokenId id, where.as_id(limit));
        if (!ids.contains(token.content)) fresh.insert(token.content);
        n = std::max(n, static_cast<size_t>(id) + 1);
    }

    VocabBuilder builder(n);
    builder.vocab().n_model_tokens = ids.size();
    for (const auto& [token, id] : ids) KVIK_TRY_VOID(builder.put(list, id, std::string(token)));
    for (const AddedToken& token : added) {
        KVIK_TRY(const HfJson where, token.where.require("id"));
        KVIK_TRY(const TokenId id, where.as_id(n));
        const auto known = ids.find(token.content);
        if (known == ids.end() && fresh.erase(token.content) == 1) {
            KVIK_TRY_VOID(builder.put(where, id, token.content));
        } else if (known != ids.end() && known->second != id) {
            return where.lie(fmt::format("is {}, but '{}' has the id {} in model.vocab", id,
                                         shown(token.content), known->second));
        }
        KVIK_TRY_VOID(builder.mark(token, id));
    }
    if (form == HfVocabForm::scores) {
        std::vector<double>& scores = builder.vocab().scores;
        for (const Json& pair : list.json()) scores.push_back(pair[1].get<double>());
        scores.resize(n);
    }
    return std::move(builder.vocab());
}

Result<std::vector<std::string>> read_hf_merges(const HfJson& model, const HfVocab& vocab) {
    std::unordered_set<std::string_view> apart;
    for (size_t i = 0; i < vocab.tokens.size(); ++i)
        if (vocab.types[i] != TokenType::normal && vocab.types[i] != TokenType::user_defined)
            apart.insert(vocab.tokens[i]);
    std::vector<std::string> merges;
    KVIK_TRY(const HfJson list, model.require("merges"));
    KVIK_TRY(const size_t n, list.size());
    merges.reserve(n);
    std::string merged;
    for (size_t i = 0; i < n; ++i) {
        const Json& merge = list.json()[i];
        std::string_view left, right;
        if (merge.is_string()) {
            const std::string_view line = merge.get_ref<const std::string&>();
            const size_t gap = std::min(line.find(' '), line.size());
            left = line.substr(0, gap);
            right = line.substr(std::min(gap + 1, line.size()));
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                   merge[1].is_string()) {
            left = merge[0].get_ref<const std::string&>();
            right = merge[1].get_ref<const std::string&>();
            if (left.find(' ') != left.npos || right.find(' ') != right.npos)
                return list.at(i).unsupported("is of a token with a space in it");
        }
        if (left.empty() || right.empty() || right.find(' ') != right.npos)
            return list.at(i).lie("is not two tokens");
        merged.assign(left).append(right);
        if (apart.contains(left) || apart.contains(right) || apart.contains(merged)) continue;
        merges.push_back(fmt::format("{} {}", left, right));
    }
    return merges;
}

}  // namespace kvik
