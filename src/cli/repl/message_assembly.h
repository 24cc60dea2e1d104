// MessageAssembly: a message out of one or more lines.
//
// Shape   """ opens a message of several lines and, at the end of a line, closes it: all between is
//         text, even what begins with a slash. Outside of it a line that ends in a backslash goes
//         on in the next (two backslashes at the end are two backslashes). A text that has
//         several lines already (a paste) is a message as it stands.
// Invariant without """ and a backslash at the end, what is taken is what comes out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kvik::cli {

struct Typed {
    std::string text;
    bool quoted = false;  // between """: never a command
};

class MessageAssembly {
  public:
    enum class State : uint8_t { complete, wants_more };

    State take(std::string_view lines);
    bool is_open() const { return open_ != Open::no; }
    // What has come so far, complete or cut short by the end of input; empties it.
    Typed finish();

  private:
    enum class Open : uint8_t { no, quotes, backslash };
    State take_quoted(std::string_view lines);

    Open open_ = Open::no;
    Typed typed_;
    bool has_line_ = false;
};

}  // namespace kvik::cli
