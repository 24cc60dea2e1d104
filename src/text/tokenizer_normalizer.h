// Normalizer: changes that a text goes through before it is tokenized.
//
// Threads const from any thread.   Cost  linear in text and result, one copy a step that applies.
// Errors  make: a replacement of nothing, or steps that could let a text grow by more than
//         kMaxGrowth times or kMaxPrepended bytes, by their index.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/tokenizer.h"

namespace kvik {

inline constexpr size_t kMaxGrowth = 64;
inline constexpr size_t kMaxPrepended = 4096;

class Normalizer {
  public:
    static Result<Normalizer> make(std::vector<NormalizerStep> steps);

    bool changes_nothing() const { return steps_.empty(); }
    // Whether a text that goes on with a space is changed before it as if it ended there.
    bool keeps_spaces_apart() const;
    std::string apply(std::string_view text) const;

  private:
    explicit Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {}
    std::vector<NormalizerStep> steps_;
};

}  // namespace kvik
