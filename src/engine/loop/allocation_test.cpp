// A step that only decodes allocates nothing of its own.
#include <gtest/gtest.h>

#include "cache/kv_storage.h"
#include "model/step_profile.h"
#include "support/requests.h"
#include "support/step_rig.h"
#include "testing/counting_new.h"
#include "testing/hash_model.h"
#include "testing/model_rig.h"

namespace kvik {
namespace {

TEST(Allocation, a_step_that_only_decodes_makes_none) {
    const HashModel model;
    StepRig rig(model, options_of(model.spec().kv, 64, 16, 200));
    Random random(1);
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < 4; ++i) {
        channels.push_back(rig.submit(request_for(random_tokens(random, 10 + i), 60)));
    }
    rig.step_loop().use_costs(StepCosts());
    for (int i = 0; i < 3; ++i) rig.step_loop().step();
    uint64_t n_bytes = 0;
    {
        const CountedBytes counted;
        for (int i = 0; i < 50; ++i) rig.step_loop().step();  // crosses three blocks
        n_bytes = counted.total();
    }
    EXPECT_EQ(n_bytes, 0u);
    rig.run();
}

// Rows of a small batch and of a large one, with and without a profile.
TEST(Allocation, a_forward_of_a_transformer_makes_none) {
    const testing::TemporaryFile file(tiny_llama({}));
    ThreadPool pool(2);
    const auto loaded = load_model({file.path, runnable_kernels().back(), Act::int8, &pool, {}});
    ASSERT_TRUE(loaded.has_value());
    const Model& model = *loaded->model;
    const uint32_t n_context = model.spec().context_length;
    KvSpec kv = model.spec().kv;
    kv.block_tokens = n_context;
    const KvStorage storage = *KvStorage::open(kv, 1);
    StepProfile profile(pool.n_threads());
    for (StepProfile* wanted : {static_cast<StepProfile*>(nullptr), &profile}) {
        const auto scratch = *model.make_scratch({n_context, 1, n_context, wanted}, pool);
        std::vector<float> logits(model.spec().vocab_size);
        for (const uint32_t n_rows : {1u, 5u, 40u}) {
            const std::vector<TokenId> tokens(n_rows, TokenId{1});
            const BlockId block{0};
            const SequenceRows rows = {{&block, 1}, 0, 0, n_rows};
            const uint32_t last = n_rows - 1;
            const CountedBytes counted;
            const Result<void> done =
                model.forward({tokens, {&rows, 1}, {&last, 1}}, storage.view(), *scratch, logits);
            const uint64_t n_bytes = counted.total();
            EXPECT_TRUE(done.has_value());
            EXPECT_EQ(n_bytes, 0u) << n_rows << " rows";
        }
    }
}

}  // namespace
}  // namespace kvik
