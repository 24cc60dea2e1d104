#include "cache/eviction.h"

#include "base/check.h"

namespace kvik {

double eviction_rank(EvictionPolicy policy, const LeafFacts& leaf) {
    switch (policy) {
        case EvictionPolicy::lru:
            return static_cast<double>(leaf.last_use);  // exact for 2^53 uses
    }
    KVIK_CHECK(false, "every policy has a rank");
}

}  // namespace kvik
