// ContentCheck: whether the bytes of a file are those that its checksum says, while they stream by.
//
// Shape   64 hex digits are SHA-256 of the bytes; 40 are what git calls a blob: SHA-1 of "blob ",
//         the length, a zero byte, and the bytes.
// Owner   its state; not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace kvik::hub {

class ContentCheck {
  public:
    ContentCheck(std::string expected, uint64_t n_bytes);
    ContentCheck(ContentCheck&&) noexcept;
    ContentCheck& operator=(ContentCheck&&) noexcept;
    ~ContentCheck();

    static bool is_checksum(const std::string& text);

    void update(std::span<const std::byte> bytes);
    std::string finish();  // hex digits of what was fed; once
    const std::string& expected() const { return expected_; }

  private:
    struct State;
    std::string expected_;
    std::unique_ptr<State> state_;
};

}  // namespace kvik::hub
