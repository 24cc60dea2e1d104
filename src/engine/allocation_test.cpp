// A step that only decodes allocates nothing of its own. Counted by replacing operator new for the
// whole test binary; only the thread and the moment that ask are counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "cache/kv_storage.h"
#include "engine/rig/requests.h"
#include "engine/rig/step_rig.h"
#include "model/step_profile.h"
#include "testing/hash_model.h"
#include "testing/model_rig.h"

static thread_local bool is_counting = false;
static thread_local uint64_t n_allocations = 0;

[[gnu::noinline]] void* operator new(std::size_t n_bytes) {
    n_allocations += is_counting;
    if (void* memory = std::malloc(n_bytes > 0 ? n_bytes : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

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
    rig.stepper().use_costs(StepCosts());
    for (int i = 0; i < 3; ++i) rig.stepper().step();
    is_counting = true;
    for (int i = 0; i < 50; ++i) rig.stepper().step();  // crosses three blocks
    is_counting = false;
    EXPECT_EQ(n_allocations, 0u);
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
            n_allocations = 0;
            is_counting = true;
            const Result<void> done =
                model.forward({tokens, {&rows, 1}, {&last, 1}}, storage.view(), *scratch, logits);
            is_counting = false;
            EXPECT_TRUE(done.has_value());
            EXPECT_EQ(n_allocations, 0u) << n_rows << " rows";
        }
    }
}

}  // namespace
}  // namespace kvik
