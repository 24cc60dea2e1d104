#include "model/sentencepiece_model.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "formats/json.h"
#include "model/hf_tokenizer_json.h"
#include "text/utf8.h"

namespace kvik {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxPieces = 1 << 21;
constexpr size_t kMaxPieceBytes = 1024;
constexpr std::string_view kMark = "\xE2\x96\x81";  // U+2581

// One field of a protobuf message.
struct Field {
    uint64_t number = 0;
    uint64_t value = 0;      // of a varint, or the bits of a fixed one
    std::string_view bytes;  // of a length-delimited one
};

class Message {
  public:
    Message(std::string_view bytes, size_t begin, const std::string& file)
        : bytes_(bytes), begin_(begin), file_(&file) {}

    bool at_end() const { return at_ == bytes_.size(); }

    Result<Field> next() {
        enum Wire : uint64_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };
        Field field;
        KVIK_TRY(const uint64_t key, read_varint());
        field.number = key >> 3;
        switch (key & 7) {
            case varint: {
                KVIK_TRY(field.value, read_varint());
                return field;
            }
            case fixed64:
            case fixed32: {
                KVIK_TRY(const std::string_view bits, take((key & 7) == fixed64 ? 8 : 4));
                for (size_t i = bits.size(); i > 0; --i)
                    field.value = field.value << 8 | static_cast<uint8_t>(bits[i - 1]);
                return field;
            }
            case delimited: {
                KVIK_TRY(const uint64_t n_bytes, read_varint());
                KVIK_TRY(field.bytes, take(n_bytes));
                return field;
            }
            default:
                return lie(fmt::format("has a field of the wire type {}", key & 7));
        }
    }

    // A message that `field`, the last one read, holds.
    Message inside(const Field& field) const {
        return {field.bytes, begin_ + at_ - field.bytes.size(), *file_};
    }

    tl::unexpected<Error> lie(std::string_view problem) const {
        return fail(ErrorKind::file,
                    fmt::format("{}: byte {} {}: fetch it again", *file_, begin_ + at_, problem));
    }

  private:
    Result<uint64_t> read_varint() {
        uint64_t value = 0;
        for (uint32_t shift = 0; shift < 70; shift += 7) {
            if (at_end()) return lie("is the end, in the middle of a number");
            const uint64_t byte = static_cast<uint8_t>(bytes_[at_++]);
            if (shift < 64) value |= (byte & 0x7F) << shift;
            if ((byte & 0x80) == 0) return value;
        }
        return lie("ends a number of more than 10 bytes");
    }

    Result<std::string_view> take(uint64_t n_bytes) {
        if (n_bytes > bytes_.size() - at_)
            return lie(fmt::format("begins a field of {} bytes, {} are left", n_bytes,
                                   bytes_.size() - at_));
        const std::string_view taken = bytes_.substr(at_, n_bytes);
        at_ += n_bytes;
        return taken;
    }

    std::string_view bytes_;
    size_t begin_ = 0;
    const std::string* file_;
    size_t at_ = 0;
};

tl::unexpected<Error> unsupported(const std::string& file, std::string_view what) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: {}, which this version cannot do: use a directory that has a "
                            "tokenizer.json, or token ids",
                            file, what));
}

Result<SentencePiece> read_piece(Message message, size_t index) {
    SentencePiece piece;
    while (!message.at_end()) {
        KVIK_TRY(const Field field, message.next());
        if (field.number == 1) piece.text = field.bytes;
        if (field.number == 2) {
            const auto bits = static_cast<uint32_t>(field.value);
            std::memcpy(&piece.score, &bits, sizeof bits);
        }
        if (field.number == 3) {
            if (field.value < 1 || field.value > 6)
                return message.lie(fmt::format("ends piece {} of the type {}, the range is 1 .. 6",
                                               index, field.value));
            piece.type = static_cast<TokenType>(field.value);
        }
    }
    if (piece.text.empty() || piece.text.size() > kMaxPieceBytes)
        return message.lie(fmt::format("ends piece {} of {} bytes, the range is 1 .. {}", index,
                                       piece.text.size(), kMaxPieceBytes));
    if (utf8_valid_prefix(piece.text) != piece.text.size())
        return message.lie(fmt::format("ends piece {}, which is not UTF-8", index));
    if (!std::isfinite(piece.score))
        return message.lie(fmt::format("ends piece {}, whose score is no number", index));
    return piece;
}

Result<void> read_trainer(Message message, const std::string& file, SentencePieceModel& model) {
    while (!message.at_end()) {
        KVIK_TRY(const Field field, message.next());
        const auto number = static_cast<int32_t>(field.value);
        if (field.number == 3) {
            if (field.value != 1 && field.value != 2)
                return unsupported(file, fmt::format("is of the model type {} (1 is unigram, 2 is "
                                                     "BPE)",
                                                     field.value));
            model.type = static_cast<SentencePieceModel::Type>(field.value);
        }
        if (field.number == 24 && field.value != 0)
            return unsupported(file, "has spaces at the ends of its pieces");
        if (field.number == 35) model.byte_fallback = field.value != 0;
        if (field.number == 40) model.unk_id = number;
        if (field.number == 41) model.bos_id = number;
        if (field.number == 42) model.eos_id = number;
    }
    return {};
}

Result<void> read_normalizer(Message message, const std::string& file, SentencePieceModel& model) {
    std::string_view name = "without a name";
    bool has_table = false, removes_spaces = true, marks_spaces = true;
    while (!message.at_end()) {
        KVIK_TRY(const Field field, message.next());
        if (field.number == 1) name = field.bytes;
        if (field.number == 2) has_table = !field.bytes.empty();
        if (field.number == 3) model.add_dummy_prefix = field.value != 0;
        if (field.number == 4) removes_spaces = field.value != 0;
        if (field.number == 5) marks_spaces = field.value != 0;
    }
    if (has_table)
        return unsupported(file, fmt::format("normalises by the table '{}'", shown(name)));
    if (removes_spaces) return unsupported(file, "removes spaces (remove_extra_whitespaces)");
    if (!marks_spaces) return unsupported(file, "leaves spaces as they are (escape_whitespaces)");
    return {};
}

using Ids = std::unordered_map<std::string_view, size_t>;

// Every pair of pieces that makes a piece, in the order of what it makes, the shorter left one first.
Json merges_of(const SentencePieceModel& model, const Ids& ids) {
    Json merges = Json::array();
    for (const SentencePiece& piece : model.pieces) {
        if (piece.type == TokenType::unused) continue;
        const std::string_view text = piece.text;
        for (size_t at = utf8_unit(text).n_bytes; at < text.size();
             at += utf8_unit(text.substr(at)).n_bytes)
            if (ids.contains(text.substr(0, at)) && ids.contains(text.substr(at)))
                merges.push_back(Json::array({text.substr(0, at), text.substr(at)}));
    }
    return merges;
}

Json added_tokens_of(const SentencePieceModel& model) {
    Json added = Json::array();
    for (size_t id = 0; id < model.pieces.size(); ++id) {
        const SentencePiece& piece = model.pieces[id];
        const bool is_special =
            piece.type == TokenType::control || piece.type == TokenType::unknown;
        if (is_special || piece.type == TokenType::user_defined)
            added.push_back({{"id", id},
                             {"content", piece.text},
                             {"special", is_special},
                             {"normalized", false}});
    }
    return added;
}

Json model_of(const SentencePieceModel& model, const Ids& ids) {
    Json json = {{"byte_fallback", model.byte_fallback}, {"fuse_unk", true}};
    Json vocab = model.type == SentencePieceModel::Type::bpe ? Json::object() : Json::array();
    const std::string& unknown = model.pieces[static_cast<size_t>(model.unk_id)].text;
    if (model.type == SentencePieceModel::Type::bpe) {
        for (size_t id = 0; id < model.pieces.size(); ++id) vocab[model.pieces[id].text] = id;
        json["type"] = "BPE";
        json["unk_token"] = unknown;
        json["merges"] = merges_of(model, ids);
    } else {
        for (const SentencePiece& piece : model.pieces)
            vocab.push_back(Json::array({piece.text, piece.score}));
        json["type"] = "Unigram";
        json["unk_id"] = model.unk_id;
    }
    json["vocab"] = std::move(vocab);
    return json;
}

// What stands before a text: the token that tokenizer_config.json or the model names.
Json frame_of(const std::string& name, size_t id) {
    return {{"type", "TemplateProcessing"},
            {"single", Json::array({{{"SpecialToken", {{"id", name}, {"type_id", 0}}}},
                                    {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}})},
            {"special_tokens", {{name, {{"id", name}, {"ids", {id}}, {"tokens", {name}}}}}}};
}

Result<void> check_model(const SentencePieceModel& model, const std::string& file) {
    const auto n = static_cast<int64_t>(model.pieces.size());
    if (model.unk_id < 0 || model.unk_id >= n)
        return fail(ErrorKind::file, fmt::format("{}: unk_id is {}, there are {} pieces: fetch it "
                                                 "again",
                                                 file, model.unk_id, n));
    Ids ids;
    for (size_t i = 0; i < model.pieces.size(); ++i) {
        const SentencePiece& piece = model.pieces[i];
        const auto [other, is_new] = ids.emplace(piece.text, i);
        if (!is_new)
            return fail(ErrorKind::file, fmt::format("{}: piece {} '{}' is there already as {}: "
                                                     "fetch it again",
                                                     file, i, shown(piece.text), other->second));
        if (piece.type == TokenType::unused && model.type == SentencePieceModel::Type::unigram)
            return unsupported(file, fmt::format("has the piece {} that is not used", i));
    }
    return {};
}

}  // namespace

Result<SentencePieceModel> read_sentencepiece(std::string_view bytes, const std::string& file) {
    SentencePieceModel model;
    Message message(bytes, 0, file);
    bool has_normalizer = false;
    while (!message.at_end()) {
        KVIK_TRY(const Field field, message.next());
        if (field.number == 1) {
            if (model.pieces.size() == kMaxPieces)
                return message.lie(fmt::format("ends one piece more than {}", kMaxPieces));
            KVIK_TRY(SentencePiece piece, read_piece(message.inside(field), model.pieces.size()));
            model.pieces.push_back(std::move(piece));
        }
        if (field.number == 2) KVIK_TRY_VOID(read_trainer(message.inside(field), file, model));
        if (field.number == 3) {
            has_normalizer = true;
            KVIK_TRY_VOID(read_normalizer(message.inside(field), file, model));
        }
    }
    if (!has_normalizer) return unsupported(file, "removes spaces (remove_extra_whitespaces)");
    KVIK_TRY_VOID(check_model(model, file));
    return model;
}

Result<std::string> tokenizer_json_of(const SentencePieceModel& model,
                                      std::optional<std::string_view> tokenizer_config,
                                      const std::string& config_file) {
    Json config = Json::object();
    if (tokenizer_config) {
        KVIK_TRY(config, parse_json(*tokenizer_config, config_file));
    }
    const HfJson settings(config, config_file);
    KVIK_TRY(const bool has_prefix, settings.flag("add_prefix_space", model.add_dummy_prefix));
    KVIK_TRY(const bool is_legacy, settings.flag("legacy", false));
    KVIK_TRY(const bool adds_bos, settings.flag("add_bos_token", false));
    Ids ids;
    for (size_t id = 0; id < model.pieces.size(); ++id) ids.emplace(model.pieces[id].text, id);
    Json root;
    root["added_tokens"] = added_tokens_of(model);
    root["pre_tokenizer"] = {{"type", "Metaspace"},
                             {"replacement", kMark},
                             {"prepend_scheme", !has_prefix ? "never"
                                                : is_legacy ? "always"
                                                            : "first"},
                             {"split", false}};
    root["model"] = model_of(model, ids);
    KVIK_TRY(const auto named_bos, settings.find("bos_token"));
    const auto bos = static_cast<size_t>(model.bos_id);
    if (adds_bos && !named_bos && model.bos_id >= 0 && bos < model.pieces.size())
        root["post_processor"] = frame_of(model.pieces[bos].text, bos);
    return root.dump();
}

Result<bool> has_space_around_control(const SentencePieceModel& model,
                                      std::optional<std::string_view> tokenizer_config,
                                      const std::string& config_file) {
    if (!tokenizer_config) return model.add_dummy_prefix;
    KVIK_TRY(const Json config, parse_json(*tokenizer_config, config_file));
    const HfJson settings(config, config_file);
    KVIK_TRY(const std::string tokenizer_class, settings.text("tokenizer_class"));
    KVIK_TRY(const bool is_legacy, settings.flag("legacy", true));
    return model.add_dummy_prefix && tokenizer_class.empty() && is_legacy;
}

}  // namespace kvik
