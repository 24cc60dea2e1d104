#include "text/tokenizer_merge.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "text/tokenizer_test_support.h"

namespace kvik {
namespace {

using testing::below;
using testing::Random;

// Ids and the pairs of them that merge: 0, 1 and 2 are letters, each merge makes the next id. Ranks
// collide, so that ties go by position.
struct RandomMerges {
    std::map<std::pair<TokenId, TokenId>, MergePair> pairs;

    explicit RandomMerges(Random& random) {
        for (TokenId made = 3; made < 24; ++made) {
            const TokenId left = static_cast<TokenId>(below(random, static_cast<size_t>(made)));
            const TokenId right = static_cast<TokenId>(below(random, static_cast<size_t>(made)));
            pairs.try_emplace({left, right},
                              MergePair{static_cast<uint32_t>(below(random, 12)), made});
        }
    }
    MergePair find(TokenId left, TokenId right) const {
        const auto found = pairs.find({left, right});
        return found == pairs.end() ? MergePair{} : found->second;
    }
};

std::vector<TokenId> random_letters(Random& random, size_t n_most) {
    std::vector<TokenId> ids;
    for (size_t n = 1 + below(random, n_most); n > 0; --n)
        ids.push_back(static_cast<TokenId>(below(random, 3)));
    return ids;
}

std::vector<TokenId> merge_scanning(std::vector<TokenId> ids, const RandomMerges& merges) {
    for (;;) {
        size_t best = 0;
        MergePair best_pair;
        for (size_t i = 0; i + 1 < ids.size(); ++i) {
            const MergePair pair = merges.find(ids[i], ids[i + 1]);
            if (pair.rank < best_pair.rank) best = i, best_pair = pair;
        }
        if (best_pair.rank == kNoPair) return ids;
        ids[best] = best_pair.merged;
        ids.erase(ids.begin() + static_cast<ptrdiff_t>(best) + 1);
    }
}

MergeScratch scratch_of(const std::vector<TokenId>& ids) {
    MergeScratch scratch;
    for (uint32_t i = 0; i < ids.size(); ++i) scratch.add(i, i + 1, ids[i]);
    return scratch;
}

TEST(MergePairs, merges_as_repeated_scans_for_the_best_pair_do) {
    for (uint64_t seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const RandomMerges merges(random);
        const std::vector<TokenId> ids = random_letters(random, 60);
        MergeScratch scratch = scratch_of(ids);
        merge_pairs(scratch, [&](const MergeSymbol& left, const MergeSymbol& right) {
            return merges.find(left.id, right.id);
        });
        std::vector<TokenId> merged;
        uint32_t end = 0;
        for (uint32_t i = 0; i != kNoSymbol; i = scratch.symbols[i].next) {
            merged.push_back(scratch.symbols[i].id);
            ASSERT_EQ(scratch.symbols[i].begin, end);
            end = scratch.symbols[i].end;
        }
        ASSERT_EQ(end, ids.size());
        ASSERT_EQ(merged, merge_scanning(ids, merges));
    }
}

TEST(MergePairs, looks_up_at_most_three_pairs_a_symbol) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const RandomMerges merges(random);
        const std::vector<TokenId> ids = random_letters(random, 2000);
        MergeScratch scratch = scratch_of(ids);
        size_t n_looks = 0;
        merge_pairs(scratch, [&](const MergeSymbol& left, const MergeSymbol& right) {
            ++n_looks;
            return merges.find(left.id, right.id);
        });
        ASSERT_LE(n_looks, 3 * ids.size());
    }
}

}  // namespace
}  // namespace kvik
