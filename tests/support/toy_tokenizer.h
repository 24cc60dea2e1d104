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
    // Where a control token's name begins. (No piece of a test's has a part of one in it.)
    bool splits_at(const MarkedText& text, size_t at) const override {
        if (at == 0 || at >= text.text.size()) return at <= text.text.size();
        return std::any_of(controls_.begin(), controls_.end(), [&](TokenId id) {
            return std::string_view(text.text).substr(at).starts_with(piece(id));
        });
    }
    size_t split_reach() const override {
        size_t n_bytes = 1;
        for (const TokenId id : controls_) n_bytes = std::max(n_bytes, piece(id).size());
        return n_bytes;
    }
    std::vector<TokenId> encode_from(const MarkedText& text, size_t at) const override {
        return encode(std::string_view(text.text).substr(at), Specials::recognised);
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
