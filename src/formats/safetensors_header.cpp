#include "formats/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.h"
#include "formats/byte_cursor.h"
#include "formats/json.h"
#include "formats/sorted_index.h"

namespace kvik {

namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

struct ElementType {
    std::string_view name;
    uint32_t bits;
};

constexpr std::array<ElementType, 21> kElementTypes = {{
    {"BOOL", 8},        {"U8", 8},   {"I8", 8},   {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8},     {"I16", 16}, {"U16", 16}, {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32}, {"F32", 32}, {"I64", 64},    {"U64", 64},
    {"F64", 64},        {"C64", 64}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6},
    {"F8_E4M3FNUZ", 8},
}};

// A type that is not in the table is the business of whoever asks for its tensor.
Result<void> check_size(const ByteCursor& cursor, const SafetensorsInfo& info) {
    const auto* type = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                                    [&](const ElementType& t) { return t.name == info.type; });
    if (type == kElementTypes.end()) return {};
    const Field field{"size", "tensor", info.name};
    const std::optional<uint64_t> n_bits = checked_mul(info.n_elements, type->bits);
    if (!n_bits)
        return tl::unexpected<Error>(cursor.error_at(
            info.begin, field,
            fmt::format("{} elements of {} pass 2^64 bits: the file is damaged, fetch it again",
                        info.n_elements, info.type)));
    if (*n_bits % 8 == 0 && *n_bits / 8 == info.n_bytes) return {};
    return tl::unexpected<Error>(cursor.error_at(
        info.begin, field,
        fmt::format("data_offsets span {} bytes, {} elements of {} take {}: the file is damaged, "
                    "fetch it again",
                    info.n_bytes, info.n_elements, info.type, (*n_bits + 7) / 8)));
}

// Turns offsets into offsets in the file, which end with the data.
Result<void> place(const ByteCursor& cursor, std::vector<SafetensorsInfo>& infos) {
    const uint64_t data_begin = cursor.offset();
    const uint64_t data_bytes = cursor.n_left();
    for (SafetensorsInfo& info : infos) {
        if (info.offset > data_bytes || info.n_bytes > data_bytes - info.offset)
            return tl::unexpected<Error>(cursor.error_at(
                info.begin, {"data_offsets", "tensor", info.name},
                fmt::format("end at {}, the tensor data after {} bytes: the file is cut short or "
                            "damaged, fetch it again",
                            info.offset + info.n_bytes, data_bytes)));
        KVIK_TRY_VOID(check_size(cursor, info));
        info.offset += data_begin;
    }
    return {};
}

Result<void> check_tiling(const ByteCursor& cursor, const std::vector<SafetensorsInfo>& infos) {
    const std::vector<uint32_t> order = sorted_index(
        infos.size(), [&](uint32_t i) { return std::pair(infos[i].offset, infos[i].n_bytes); });
    uint64_t end = cursor.offset();
    std::string_view before = "";
    for (const uint32_t i : order) {
        const SafetensorsInfo& info = infos[i];
        const Field field{"data_offsets", "tensor", info.name};
        if (info.offset < end)
            return tl::unexpected<Error>(cursor.error_at(
                info.begin, field,
                fmt::format("put it at byte {}, inside {} that ends at {}: the file is damaged, "
                            "fetch it again",
                            info.offset, in_quotes(before), end)));
        if (info.offset > end)
            return tl::unexpected<Error>(cursor.error_at(
                info.begin, field,
                fmt::format("put it at byte {}, bytes {} .. {} belong to no tensor: the file is "
                            "damaged, fetch it again",
                            info.offset, end, info.offset - 1)));
        end = info.offset + info.n_bytes;
        before = info.name;
    }
    const uint64_t file_bytes = cursor.offset() + cursor.n_left();
    if (end == file_bytes) return {};
    return tl::unexpected<Error>(cursor.error_at(
        end, {"tensor data"},
        fmt::format("ends, the file has {} bytes more: it is damaged or was not written to its "
                    "end, fetch it again",
                    file_bytes - end)));
}

Result<void> check_names(const ByteCursor& cursor, const std::vector<SafetensorsInfo>& infos) {
    const auto name_of = [&](uint32_t i) -> std::string_view { return infos[i].name; };
    const std::vector<uint32_t> order = sorted_index(infos.size(), name_of);
    const std::optional<Twins> twins = find_twins(std::span<const uint32_t>(order), name_of);
    if (!twins) return {};
    return tl::unexpected<Error>(cursor.error_at(
        infos[twins->second].begin, {"name", "tensor", name_of(twins->first)},
        fmt::format("is there already at byte {}: the file is damaged or hostile, fetch it again",
                    infos[twins->first].begin)));
}

}  // namespace

Result<std::vector<SafetensorsInfo>> read_safetensors_header(WeightFile& file) {
    const Field length{"header length"};
    KVIK_TRY(const std::span<const std::byte> begin, file.head(sizeof(uint64_t)));
    ByteCursor first(begin, file.name(), file.n_bytes());
    KVIK_TRY(const uint64_t n_bytes, first.number<uint64_t>(length));
    const bool is_there = n_bytes <= kMaxHeaderBytes && n_bytes <= first.n_left();
    KVIK_TRY(const std::span<const std::byte> bytes,
             file.head(is_there ? first.offset() + n_bytes : first.offset()));
    ByteCursor cursor(bytes, file.name(), file.n_bytes());
    KVIK_TRY_VOID(cursor.take(length, sizeof(uint64_t)));
    if (n_bytes > kMaxHeaderBytes)
        return tl::unexpected<Error>(cursor.error_at(
            0, length,
            fmt::format("is {} bytes, the limit is {}: it is no safetensors file or damaged, fetch "
                        "it again",
                        n_bytes, kMaxHeaderBytes)));
    if (n_bytes > cursor.n_left())
        return tl::unexpected<Error>(
            cursor.error_at(0, length,
                            fmt::format("is {} bytes, {} bytes remain: the file is cut short, "
                                        "fetch it again",
                                        n_bytes, cursor.n_left())));
    KVIK_TRY(const std::span<const std::byte> header, cursor.take({"header"}, n_bytes));
    KVIK_TRY(std::vector<SafetensorsInfo> infos, read_safetensors_json(cursor, header));
    KVIK_TRY_VOID(check_names(cursor, infos));
    KVIK_TRY_VOID(place(cursor, infos));
    KVIK_TRY_VOID(check_tiling(cursor, infos));
    return infos;
}

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxNameBytes = 1 << 20;

// Where in the header a value stands.
enum class Place { outside, root, metadata, tensor, shape, data_offsets };

// Fields of a tensor, as bits.
constexpr uint32_t kDtype = 1;
constexpr uint32_t kShape = 2;
constexpr uint32_t kDataOffsets = 4;

class HeaderReader final : public nlohmann::json_sax<Json> {
  public:
    HeaderReader(const ByteCursor& cursor, std::span<const std::byte> header)
        : cursor_(cursor),
          begin_(reinterpret_cast<const char*>(header.data())),
          end_(begin_ + header.size()),
          told_(begin_),
          last_(begin_),
          file_offset_(cursor.offset() - header.size()) {}

    Result<std::vector<SafetensorsInfo>> read() {
        if (begin_ == end_ || *begin_ != '{')
            return tl::unexpected<Error>(cursor_.error_at(
                file_offset_, {"header"},
                "does not begin with '{': it is no safetensors file or damaged, fetch it again"));
        // The parser would take a NUL for the end and not look behind it.
        if (const char* nul = std::find(begin_, end_, '\0'); nul != end_)
            return tl::unexpected<Error>(cursor_.error_at(
                file_offset_ + static_cast<uint64_t>(nul - begin_), {"header"},
                "has a NUL, it must be JSON: the file is damaged, fetch it again"));
        const bool whole =
            Json::sax_parse(TellingIterator{begin_, &told_}, TellingIterator{end_, &told_}, this);
        if (!whole) return tl::unexpected<Error>(std::move(error_));
        return std::move(infos_);
    }

    bool null() override { return wrong("null"); }
    bool boolean(bool value) override { return wrong(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) override {
        return value == 0 ? number(0) : wrong(std::to_string(value));
    }
    bool number_unsigned(number_unsigned_t value) override { return number(value); }
    bool number_float(number_float_t /*value*/, const string_t& text) override {
        return wrong(text);
    }
    bool string(string_t& value) override {
        if (place_ == Place::tensor && field_ == kDtype)
            infos_.back().type = std::move(value);
        else if (place_ != Place::metadata)
            return wrong("a string");
        return done();
    }
    bool binary(binary_t& /*value*/) override { return wrong("binary data"); }
    bool start_object(std::size_t /*n*/) override {
        if (place_ == Place::outside)
            place_ = Place::root;
        else if (place_ == Place::root && name_ == "__metadata__")
            return start_metadata();
        else if (place_ == Place::root)
            start_tensor();
        else
            return wrong("an object");
        return done();
    }
    bool key(string_t& name) override {
        if (place_ == Place::root) return root_key(name);
        if (place_ == Place::metadata) {
            metadata_keys_.push_back(std::move(name));
            return done();
        }
        return tensor_key(name);
    }
    bool end_object() override {
        if (place_ == Place::tensor) return end_tensor();
        if (place_ == Place::metadata) return end_metadata();
        place_ = Place::outside;
        return done();
    }
    bool start_array(std::size_t /*n*/) override {
        if (place_ != Place::tensor || field_ == kDtype) return wrong("an array");
        place_ = field_ == kShape ? Place::shape : Place::data_offsets;
        return done();
    }
    bool end_array() override {
        if (place_ == Place::data_offsets && n_offsets_ != 2)
            return refuse(token_begin(), "data_offsets",
                          fmt::format("ends after {} of 2 numbers", n_offsets_));
        place_ = Place::tensor;
        return done();
    }
    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const nlohmann::detail::exception& /*error*/) override {
        name_.clear();
        return refuse(file_offset_ + position - (position == 0 ? 0 : 1), "header",
                      "is not valid JSON in UTF-8");
    }

  private:
    // Byte in the file where the token that was just read begins.
    uint64_t token_begin() const {
        const std::string_view between = " \t\n\r,:";
        const char* at = last_;
        while (at + 1 < told_ && between.find(*at) != std::string_view::npos) ++at;
        return file_offset_ + static_cast<uint64_t>(at - begin_);
    }
    bool done() {
        last_ = told_;
        return true;
    }
    bool refuse(uint64_t offset, std::string_view field, std::string_view problem) {
        const std::string_view kind = name_.empty() ? "" : "tensor";
        error_ = cursor_.error_at(offset, {field, kind, name_},
                                  fmt::format("{}: the file is damaged, fetch it again", problem));
        return false;
    }
    std::string_view field_name() const {
        return field_ == kDtype ? "dtype" : field_ == kShape ? "shape" : "data_offsets";
    }
    // A value of a kind that cannot stand here.
    bool wrong(std::string_view found);
    bool number(uint64_t value);
    bool root_key(string_t& name);
    bool tensor_key(const string_t& name);
    void start_tensor();
    bool end_tensor();
    bool start_metadata();
    bool end_metadata();

    const ByteCursor& cursor_;
    const char* begin_;
    const char* end_;
    const char* told_;      // how far the parser has read
    const char* last_;      // how far it had read after the token before
    uint64_t file_offset_;  // of the header
    Place place_ = Place::outside;
    std::string name_;          // the root's last key
    uint64_t name_begin_ = 0;   // and where it stands
    uint32_t field_ = 0;        // the tensor's last key
    uint32_t fields_seen_ = 0;  // all of its keys
    uint32_t n_offsets_ = 0;    // numbers in data_offsets so far
    bool has_metadata_ = false;
    std::vector<std::string> metadata_keys_;
    std::vector<SafetensorsInfo> infos_;
    Error error_;
};

bool HeaderReader::wrong(std::string_view found) {
    switch (place_) {
        case Place::outside:
        case Place::root:
            return refuse(token_begin(), "description",
                          fmt::format("is {}, it must be an object", found));
        case Place::metadata:
            return refuse(token_begin(), "__metadata__",
                          fmt::format("holds {}, it must hold strings", found));
        case Place::tensor:
            return refuse(token_begin(), field_name(),
                          fmt::format("is {}, it must be {}", found,
                                      field_ == kDtype ? "a string" : "an array of integers"));
        case Place::shape:
        case Place::data_offsets:
            break;
    }
    return refuse(token_begin(), field_name(),
                  fmt::format("holds {}, it must hold integers from 0 to 2^64 - 1", found));
}

bool HeaderReader::number(uint64_t value) {
    if (place_ != Place::shape && place_ != Place::data_offsets)
        return wrong(std::to_string(value));
    SafetensorsInfo& info = infos_.back();
    if (place_ == Place::data_offsets) {
        if (n_offsets_ == 2)
            return refuse(token_begin(), "data_offsets", "has more than 2 numbers");
        if (n_offsets_ == 0)
            info.offset = value;
        else if (value < info.offset)
            return refuse(token_begin(), "data_offsets",
                          fmt::format("end at {}, before they begin at {}", value, info.offset));
        else
            info.n_bytes = value - info.offset;
        ++n_offsets_;
        return done();
    }
    const std::optional<uint64_t> product = checked_mul(info.n_elements, value);
    if (!product)
        return refuse(token_begin(), "shape",
                      fmt::format("holds {}, with it the number of elements passes 2^64", value));
    if (info.n_dims < info.dims.size()) info.dims[info.n_dims] = value;
    ++info.n_dims;
    info.n_elements = *product;
    return done();
}

bool HeaderReader::root_key(string_t& name) {
    name_begin_ = token_begin();
    name_.clear();
    if (name.empty()) return refuse(name_begin_, "tensor name", "is empty");
    if (name.size() > kMaxNameBytes)
        return refuse(name_begin_, "tensor name",
                      fmt::format("has {} bytes, the limit is {}", name.size(), kMaxNameBytes));
    name_ = std::move(name);
    return done();
}

bool HeaderReader::tensor_key(const string_t& name) {
    field_ = name == "dtype" ? kDtype : name == "shape" ? kShape : kDataOffsets;
    if (name != field_name())
        return refuse(token_begin(), "field",
                      fmt::format("{} is none of dtype, shape, data_offsets", in_quotes(name)));
    if (fields_seen_ & field_) return refuse(token_begin(), field_name(), "is there twice");
    fields_seen_ |= field_;
    return done();
}

void HeaderReader::start_tensor() {
    place_ = Place::tensor;
    fields_seen_ = 0;
    n_offsets_ = 0;
    infos_.emplace_back().name = name_;
    infos_.back().begin = name_begin_;
}

bool HeaderReader::end_tensor() {
    for (const uint32_t field : {kDtype, kShape, kDataOffsets}) {
        field_ = field;
        if (!(fields_seen_ & field)) return refuse(token_begin(), field_name(), "is missing");
    }
    place_ = Place::root;
    return done();
}

bool HeaderReader::start_metadata() {
    name_.clear();
    if (has_metadata_) return refuse(name_begin_, "__metadata__", "is there twice");
    has_metadata_ = true;
    place_ = Place::metadata;
    return done();
}

bool HeaderReader::end_metadata() {
    const auto key_of = [&](uint32_t i) -> std::string_view { return metadata_keys_[i]; };
    const std::vector<uint32_t> order = sorted_index(metadata_keys_.size(), key_of);
    if (const auto twins = find_twins(std::span<const uint32_t>(order), key_of))
        return refuse(name_begin_, "__metadata__",
                      fmt::format("has the key {} twice", in_quotes(key_of(twins->first))));
    metadata_keys_ = {};
    place_ = Place::root;
    return done();
}

}  // namespace

Result<std::vector<SafetensorsInfo>> read_safetensors_json(const ByteCursor& cursor,
                                                           std::span<const std::byte> header) {
    return HeaderReader(cursor, header).read();
}

}  // namespace kvik
