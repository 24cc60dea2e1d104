// One request of an experiment, and what its client sees of it.
//
// Shape   greedy, of a fixed length: end tokens are sampled like any other, so that every way of
//         computing it does the same work. Times are by the client's clock.
#pragma once

#include <string>
#include <vector>

#include "kvik/kvik.h"

namespace kvik::lab {

struct Asked {
    std::vector<TokenId> prompt;
    uint32_t n_answer = 1;
    CachePolicy cache = CachePolicy::reuse;
    std::string salt = {};
};

struct Told {
    std::vector<TokenId> ids;
    double first_ms = 0;  // until the first token
    double total_ms = 0;
    Summary summary;
};

Result<Told> ask(Engine& engine, Asked asked);

// What computing as many tokens at a depth takes, as `kvik bench -p M -d D` measures it: after a
// prefix that is in the cache, tokens that nobody has seen.
class DepthMeter {
  public:
    explicit DepthMeter(Engine& engine) : engine_(&engine) {}
    struct Place {
        uint32_t depth = 0, n_tokens = 0;
    };
    // Time to the first token. Errors: the prefix does not stay in the cache -> memory.
    Result<double> first_ms(const Place& place);

  private:
    std::vector<TokenId> some_ids(uint32_t n, uint32_t stream) const;
    Engine* engine_;
    uint32_t n_asked_ = 0;  // no two prompts end alike
};

}  // namespace kvik::lab
