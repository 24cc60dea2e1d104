// A step that only decodes allocates nothing of its own. Counted by replacing operator new for the
// whole test binary; only the thread and the moment that ask are counted.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "engine/rig/requests.h"
#include "engine/rig/step_rig.h"
#include "testing/hash_model.h"

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

}  // namespace
}  // namespace kvik
