// ProgressLine: one line on stderr that says what goes on, drawn over by the next one.
//
// Invariant nothing appears where stderr is no terminal, or NO_COLOR is set; when it is destroyed the
//           line is clean again.
#pragma once

#include <string>

namespace kvik::cli {

class ProgressLine {
  public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    bool is_shown() const { return shown_; }
    void draw(const std::string& text);  // cut to the columns there are
    void clear();                        // before anything else is written

  private:
    bool shown_;
    bool drawn_ = false;
};

}  // namespace kvik::cli
