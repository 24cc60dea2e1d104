// Characters as numbers, and CodePoints, a set of them.
//
// Cost      every operation is linear in the ranges of its sets, some hundreds.
// Invariant ranges ascend, are disjoint and do not touch; characters are 0 .. 0x10FFFF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvik {

inline constexpr uint32_t kLastCodePoint = 0x10FFFF;

uint32_t code_point_of(std::string_view character);  // of its bytes, valid UTF-8
void append_utf8(std::string& to, uint32_t code_point);

class CodePoints {
  public:
    struct Range {
        uint32_t first = 0;
        uint32_t last = 0;
        bool operator==(const Range&) const = default;
    };

    CodePoints() = default;
    CodePoints(uint32_t first, uint32_t last) : ranges_{{first, last}} {}
    // A general category or its first letter ("Lu", "L"), or a script that the tables know.
    static std::optional<CodePoints> property(std::string_view name);
    static CodePoints white_space();  // Unicode's White_Space

    void add(const CodePoints& other);
    CodePoints others() const;  // all characters that are not in it
    // With all that differ from one of it in case alone.
    CodePoints in_any_case() const;

    const std::vector<Range>& ranges() const { return ranges_; }
    bool contains(uint32_t character) const;
    bool operator==(const CodePoints&) const = default;

  private:
    void tidy();
    std::vector<Range> ranges_;
};

}  // namespace kvik
