// GgufMetadata: the key-value pairs of a GGUF file, with typed access.
//
// Owner   the file's bytes: keys, strings and arrays of strings point into them, nothing is copied.
// Threads const from any thread.
// Cost    find is O(log n); reading a string array walks it, O(its bytes), without allocating.
// Invariant keys are unique, UTF-8 and not empty; every value lies inside the file. What a value
//         holds (UTF-8, 0 or 1, a range) is checked where it is asked for: a value that nobody
//         asks for stops nothing.
// Errors  absent where required, of another type, out of range: one line that names the file, the
//         key, its byte offset, what was found and what is needed. Nothing = the key is not there.
// Source  the GGUF specification, versions 2 and 3.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/byte_cursor.h"

namespace kvik {

// GGUF's value types, by its numbers.
enum class GgufType : uint32_t {
    u8 = 0,
    i8 = 1,
    u16 = 2,
    i16 = 3,
    u32 = 4,
    i32 = 5,
    f32 = 6,
    boolean = 7,
    string = 8,
    array = 9,
    u64 = 10,
    i64 = 11,
    f64 = 12,
};

struct GgufValue {
    std::string_view key;
    GgufType type = GgufType::u8;  // of the value; of the elements if it is an array
    bool is_array = false;
    uint64_t n_elements = 1;
    uint64_t offset = 0;               // of `bytes` in the file
    std::span<const std::byte> bytes;  // numbers as they lie; a string's text; see GgufStrings
};

// "u32", "array of string": for messages and listings.
std::string type_name(const GgufValue& value);

// A string that is only shown: at most 4 KiB of it, its bytes escaped (\xNN) where it is not UTF-8.
std::string label_of(std::string_view text);

// An array of strings where it lies: each a u64 length and its bytes, all inside the file.
class GgufStrings {
  public:
    class Iterator {
      public:
        Iterator(const std::byte* at, uint64_t n_left) : at_(at), n_left_(n_left) {}
        std::string_view operator*() const {
            return {reinterpret_cast<const char*>(at_ + sizeof(uint64_t)), length()};
        }
        Iterator& operator++() {
            at_ += sizeof(uint64_t) + length();
            --n_left_;
            return *this;
        }
        bool operator==(std::default_sentinel_t) const { return n_left_ == 0; }

      private:
        uint64_t length() const {
            uint64_t n = 0;
            std::memcpy(&n, at_, sizeof n);
            return n;
        }
        const std::byte* at_;
        uint64_t n_left_;
    };

    explicit GgufStrings(const GgufValue& value)
        : data_(value.bytes.data()), n_elements_(value.n_elements) {}
    uint64_t size() const { return n_elements_; }
    Iterator begin() const { return {data_, n_elements_}; }
    std::default_sentinel_t end() const { return {}; }

  private:
    const std::byte* data_;
    uint64_t n_elements_;
};

struct IntegerRange {
    uint64_t min = 0;
    uint64_t max = UINT32_MAX;
};

class GgufMetadata {
  public:
    // Reads n_values pairs. `cursor` stands at the first one, and then behind the last one.
    static Result<GgufMetadata> read(ByteCursor& cursor, uint64_t n_values);

    const std::string& file() const { return file_; }
    std::span<const GgufValue> values() const { return values_; }  // in the file's order
    const GgufValue* find(std::string_view key) const;             // null: not there

    // An integer may be stored in any integer type; a real number in any type of numbers; a boolean
    // in bool or as 0 or 1 in any integer type. So may the elements of an array, an i32 in bool
    // too. Strings that are needed have at most 1 MiB; those of find_string are UTF-8, those of
    // find_strings may hold any bytes.
    Result<std::optional<uint64_t>> find_integer(std::string_view key, IntegerRange range) const;
    Result<std::optional<double>> find_real(std::string_view key) const;
    Result<std::optional<bool>> find_bool(std::string_view key) const;
    Result<std::optional<std::string_view>> find_string(std::string_view key) const;
    Result<std::optional<GgufStrings>> find_strings(std::string_view key) const;
    Result<std::optional<std::vector<int32_t>>> find_i32s(std::string_view key) const;
    Result<std::optional<std::vector<double>>> find_reals(std::string_view key) const;
    // The label of a string; nothing if the key is not there or no string.
    std::optional<std::string> find_label(std::string_view key) const;

    Result<uint64_t> require_integer(std::string_view key, IntegerRange range) const;
    Result<double> require_real(std::string_view key) const;
    Result<std::string_view> require_string(std::string_view key) const;
    Result<GgufStrings> require_strings(std::string_view key) const;

    // "<file>: key '<key>' at byte <offset>: <problem>", or without an offset if it is not there.
    Error error_about(std::string_view key, std::string_view problem,
                      ErrorKind kind = ErrorKind::file) const;

  private:
    template <class T>
    Result<T> required(std::string_view key, Result<std::optional<T>> found) const;
    Result<uint8_t> boolean_at(const GgufValue& value, uint64_t index) const;
    Error wrong_type(const GgufValue& value, std::string_view needed) const;

    std::string file_;
    std::vector<GgufValue> values_;
    std::vector<uint32_t> by_key_;  // indices into values_, ascending by key
};

}  // namespace kvik
