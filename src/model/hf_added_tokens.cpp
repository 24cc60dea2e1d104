#include "model/hf_added_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "text/utf8.h"

namespace kvik {
namespace {

constexpr std::array<std::string_view, 7> kNames = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};
constexpr std::string_view kExtra = "extra_special_tokens";
constexpr std::string_view kFormerExtra = "additional_special_tokens";
constexpr std::string_view kById = "added_tokens_decoder";

bool is_usual_name(std::string_view key) {
    return std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

// A token as a file has it: a string alone is found as it is written and takes no spaces.
struct Written {
    HfToken token;
    bool is_string = false;

    bool operator==(const Written&) const = default;
};

Result<Written> read_token(const HfJson& value, bool is_special) {
    Written written;
    if (value.json().is_string()) {
        KVIK_TRY(written.token.content, value.as_text());
        written.token.is_special = true;
        written.is_string = true;
        return written;
    }
    KVIK_TRY(const HfJson content, value.require("content"));
    KVIK_TRY(written.token.content, content.as_text());
    KVIK_TRY(written.token.is_special, value.flag("special", is_special));
    KVIK_TRY(written.token.takes_space_before, value.flag("lstrip", false));
    KVIK_TRY(written.token.takes_space_after, value.flag("rstrip", false));
    KVIK_TRY(written.token.normalized, value.flag("normalized", !written.token.is_special));
    KVIK_TRY(const bool single_word, value.flag("single_word", false));
    if (single_word)
        return value.unsupported(fmt::format("'{}' is for whole words alone (single_word)",
                                             shown(written.token.content)));
    return written;
}

Result<int64_t> read_index(const HfJson& where, std::string_view text) {
    int64_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc{} || end != text.data() + text.size())
        return where.lie(fmt::format("has '{}', which is not a token's id", shown(text)));
    return index;
}

class HomeReader {
  public:
    explicit HomeReader(const HfTokenHomes& homes) : homes_(homes) {}

    Result<HfAddedTokens> read() {
        if (homes_.config != nullptr) KVIK_TRY_VOID(read_config());
        if (!has_list_by_id_) {
            if (homes_.special_map != nullptr) KVIK_TRY_VOID(read_special_map());
            if (homes_.added != nullptr) KVIK_TRY_VOID(read_added_file());
            KVIK_TRY_VOID(read_former_extra());
            KVIK_TRY_VOID(read_tokenizer_added());
        }
        KVIK_TRY(std::vector<HfToken> tokens, in_order());
        HfAddedTokens added;
        added.tokens = std::move(tokens);
        added.bos = name_of("bos_token");
        added.eos = name_of("eos_token");
        return added;
    }

  private:
    Result<void> read_config() {
        const HfJson& config = *homes_.config;
        for (const std::string_view name : kNames) {
            KVIK_TRY(const auto value, config.find(name));
            if (!value) continue;
            KVIK_TRY_VOID(put_name(std::string(name), *value, false));
            if (!value->json().is_string()) objects_of_config_.insert(std::string(name));
        }
        for (const std::string& key : homes_.config_keys) {
            if (!key.ends_with("_token") || is_usual_name(key)) continue;
            KVIK_TRY(const auto value, config.find(key));
            if (value && value->json().is_string()) KVIK_TRY_VOID(put_name(key, *value, false));
        }
        KVIK_TRY(const auto extra, config.find(kExtra));
        if (extra) KVIK_TRY_VOID(put_extra(*extra));
        KVIK_TRY(const auto former, config.find(kFormerExtra));
        if (former && extra_.empty()) KVIK_TRY_VOID(put_extra(*former));
        KVIK_TRY(const auto by_id, config.find(kById));
        if (!by_id) return {};
        has_list_by_id_ = true;
        for (const auto& [key, value] : by_id->json().items()) {
            const HfJson where(value, by_id->file(), fmt::format("{}.{}", kById, shown(key)));
            KVIK_TRY(const int64_t index, read_index(*by_id, key));
            KVIK_TRY(const Written written, read_token(where, false));
            put_by_id(index, written.token);
        }
        return {};
    }

    Result<void> put_name(std::string key, const HfJson& value, bool is_special) {
        if (value.json().is_string() && value.json().get_ref<const std::string&>().empty())
            return {};
        KVIK_TRY(Written written, read_token(value, is_special));
        const auto known = std::find_if(names_.begin(), names_.end(),
                                        [&](const auto& name) { return name.first == key; });
        if (known != names_.end())
            known->second = std::move(written);
        else
            names_.emplace_back(std::move(key), std::move(written));
        return {};
    }

    // A list of tokens, or an object of names and tokens.
    Result<void> put_extra(const HfJson& value) {
        if (value.json().is_object()) {
            for (const auto& [key, token] : value.json().items())
                KVIK_TRY_VOID(put_name(
                    key,
                    HfJson(token, value.file(), fmt::format("{}.{}", value.path(), shown(key))),
                    true));
            return {};
        }
        KVIK_TRY(const size_t n, value.size());
        for (size_t i = 0; i < n; ++i) {
            KVIK_TRY(Written written, read_token(value.at(i), true));
            if (std::find(extra_.begin(), extra_.end(), written) == extra_.end())
                extra_.push_back(std::move(written));
        }
        return {};
    }

    // Its fields replace those of the same name; lists of extra tokens are joined.
    Result<void> read_special_map() {
        const HfJson& map = *homes_.special_map;
        if (!map.json().is_object()) return map.lie("is not an object");
        for (const auto& [key, token] : map.json().items()) {
            if (token.is_null()) continue;
            const HfJson value(token, map.file(), shown(key));
            if (key == kExtra) {
                if (token.is_object()) extra_.clear();
                KVIK_TRY_VOID(put_extra(value));
            } else if (key.ends_with("_token")) {
                objects_of_config_.erase(key);
                KVIK_TRY_VOID(put_name(key, value, true));
            }
        }
        return {};
    }

    // The former name counts where the present one has no tokens.
    Result<void> read_former_extra() {
        if (homes_.special_map == nullptr || !extra_.empty()) return {};
        KVIK_TRY(const auto former, homes_.special_map->find(kFormerExtra));
        if (former) KVIK_TRY_VOID(put_extra(*former));
        return {};
    }

    Result<void> read_added_file() {
        const HfJson& file = *homes_.added;
        if (!file.json().is_object()) return file.lie("is not an object of tokens and their ids");
        for (const auto& [content, id] : file.json().items()) {
            if (!id.is_number_integer())
                return file.lie(fmt::format("has '{}' without an id", shown(content)));
            const bool is_special = is_known_special(content);
            put_by_id(id.get<int64_t>(),
                      {.content = content, .is_special = is_special, .normalized = !is_special});
        }
        return {};
    }

    Result<void> read_tokenizer_added() {
        KVIK_TRY(const auto list, homes_.tokenizer->find("added_tokens"));
        if (!list) return {};
        KVIK_TRY(const size_t n, list->size());
        for (size_t i = 0; i < n; ++i) {
            const HfJson one = list->at(i);
            KVIK_TRY(const HfJson id, one.require("id"));
            if (!id.json().is_number_integer()) return id.lie("is not a token's id");
            KVIK_TRY(const Written written, read_token(one, false));
            put_by_id(id.json().get<int64_t>(), written.token);
        }
        return {};
    }

    void put_by_id(int64_t index, HfToken token) {
        by_content_[token.content] = token;
        by_id_[index] = std::move(token);
    }

    bool is_known_special(std::string_view content) const {
        return std::any_of(names_.begin(), names_.end(),
                           [&](const auto& name) {
                               return is_usual_name(name.first) &&
                                      !objects_of_config_.contains(name.first) &&
                                      name.second.token.content == content;
                           }) ||
               std::any_of(extra_.begin(), extra_.end(),
                           [&](const Written& extra) { return extra.token.content == content; });
    }

    std::optional<std::string> name_of(std::string_view key) const {
        for (const auto& [name, written] : names_)
            if (name == key) return written.token.content;
        return std::nullopt;
    }

    // The usual names in their own order, then those that the model's files have of their own.
    std::vector<Written> named() const {
        std::vector<Written> in_order;
        for (const std::string_view usual : kNames)
            for (const auto& [name, written] : names_) {
                if (name != usual) continue;
                // A name for a token that a list describes means that token.
                const auto known = by_content_.find(written.token.content);
                in_order.push_back(known == by_content_.end() ? written
                                                              : Written{known->second, false});
            }
        for (const auto& [name, written] : names_)
            if (!is_usual_name(name)) in_order.push_back(written);
        return in_order;
    }

    Result<std::vector<HfToken>> in_order() const {
        std::vector<Written> to_add;
        std::unordered_set<std::string_view> known;
        for (const auto& [id, token] : by_id_) {
            to_add.push_back({token, false});
            known.insert(token.content);
        }
        KVIK_TRY(const auto list, homes_.tokenizer->find("added_tokens"));
        if (list) {
            KVIK_TRY(const size_t n, list->size());
            for (size_t i = 0; i < n; ++i) {
                KVIK_TRY(const HfJson content, list->at(i).require("content"));
                if (content.json().is_string())
                    known.insert(content.json().get_ref<const std::string&>());
            }
        }
        const std::vector<Written> names = named();
        const size_t n_listed = to_add.size();
        const auto put = [&](const Written& written) {
            if (known.contains(written.token.content)) return;
            if (std::find(to_add.begin() + static_cast<ptrdiff_t>(n_listed), to_add.end(),
                          written) == to_add.end())
                to_add.push_back(written);
        };
        for (const Written& name : names) put(name);
        for (const Written& extra : extra_) put(extra);
        std::unordered_set<std::string_view> special;
        for (const Written& name : names) special.insert(name.token.content);
        std::vector<HfToken> tokens;
        for (Written& written : to_add) {
            if (special.contains(written.token.content)) written.token.is_special = true;
            tokens.push_back(std::move(written.token));
        }
        return tokens;
    }

    const HfTokenHomes& homes_;
    bool has_list_by_id_ = false;
    std::map<int64_t, HfToken> by_id_;
    std::unordered_map<std::string, HfToken> by_content_;
    std::vector<std::pair<std::string, Written>> names_;
    std::vector<Written> extra_;
    // Names whose token added_tokens.json does not take for special by itself.
    std::unordered_set<std::string> objects_of_config_;
};

}  // namespace

Result<HfAddedTokens> read_hf_added_tokens(const HfTokenHomes& homes) {
    return HomeReader(homes).read();
}

}  // namespace kvik
