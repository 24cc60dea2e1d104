// StopText: holds text back while it could become a stop string, and cuts at one that comes.
//
// Use     push() returns what became certain; once hit() is true nothing more comes. finish()
//         returns what was held back for a stop string that did not come.
// Cost    O(stops x (held + text)) a push; less than the longest stop string is ever held.
// Invariant the text does not depend on how it was cut into pushes: the stop string that ends first
//         wins, of two that end together the longer one. No byte of it is ever returned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvik {

class StopText {
  public:
    explicit StopText(std::vector<std::string> stops);  // none empty

    std::string push(std::string_view text);
    std::string finish();
    bool is_watching() const { return !stops_.empty(); }
    bool hit() const { return hit_; }
    uint64_t n_certain_bytes() const { return n_certain_bytes_; }  // returned so far

  private:
    std::string release(size_t n_bytes);

    std::vector<std::string> stops_;
    std::string held_;
    uint64_t n_certain_bytes_ = 0;
    bool hit_ = false;
};

}  // namespace kvik
