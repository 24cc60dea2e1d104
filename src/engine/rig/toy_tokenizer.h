// ToyTokenizer: a tokenizer for tests whose every piece is written out: token i is pieces[i].
//
// Cost  encode looks at every piece at every place.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace kvik {

class ToyTokenizer final : public Tokenizer {
  public:
    explicit ToyTokenizer(std::vector<std::string> pieces, std::vector<TokenId> controls = {})
        : pieces_(std::move(pieces)), controls_(std::move(controls)) {}

    uint32_t n_tokens() const override { return static_cast<uint32_t>(pieces_.size()); }
    // The longest piece that fits, from left to right; text that no piece begins is left out.
    std::vector<TokenId> encode(std::string_view text, Specials) const override {
        std::vector<TokenId> ids;
        for (size_t at = 0; at < text.size();) {
            TokenId best = -1;
            for (TokenId id = 0; id < static_cast<TokenId>(pieces_.size()); ++id) {
                const bool fits = text.substr(at).starts_with(piece(id)) && !piece(id).empty();
                if (fits && (best < 0 || piece(id).size() > piece(best).size())) best = id;
            }
            if (best >= 0) ids.push_back(best);
            at += best < 0 ? 1 : piece(best).size();
        }
        return ids;
    }
    std::vector<TokenId> encode(const MarkedText& text) const override {
        return encode(text.text, Specials::recognised);
    }
    std::string_view piece(TokenId id) const override { return pieces_[static_cast<size_t>(id)]; }
    bool is_control(TokenId id) const override {
        return std::find(controls_.begin(), controls_.end(), id) != controls_.end();
    }
    std::optional<TokenId> find(std::string_view) const override { return std::nullopt; }
    std::optional<TokenId> bos() const override { return bos_id; }
    std::optional<TokenId> eos() const override { return eos_id; }
    std::optional<TokenId> eot() const override { return std::nullopt; }
    std::span<const TokenId> ends() const override { return end_ids; }
    bool adds_bos() const override { return bos_id.has_value(); }

    std::optional<TokenId> bos_id;  // added where a text has none
    std::optional<TokenId> eos_id;
    std::vector<TokenId> end_ids;

  private:
    std::vector<std::string> pieces_;
    std::vector<TokenId> controls_;
};

}  // namespace kvik
