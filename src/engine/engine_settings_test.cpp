#include "engine/engine_settings.h"

#include <gtest/gtest.h>

#include "testing/hash_model.h"

namespace kvik {
namespace {

ModelSpec spec_of(uint32_t context_length, uint32_t vocab_size = 101) {
    ModelSpec spec = HashModel().spec();
    spec.context_length = context_length;
    spec.vocab_size = vocab_size;
    return spec;
}

EngineOptions small() {
    EngineOptions options;
    options.cache_bytes = 1 << 20;
    return options;
}

TEST(EngineSettings, context_is_the_models_or_the_default_or_what_the_budget_holds) {
    EngineOptions options;
    options.cache_bytes = 8 << 20;
    EXPECT_EQ(resolve_settings(options, spec_of(1000))->context, 1000u);
    EXPECT_EQ(resolve_settings(options, spec_of(100000))->context, kDefaultContext);
    options.cache_bytes = 100000;
    EngineOptions whole;
    whole.context = kModelContext;
    EXPECT_EQ(resolve_settings(whole, spec_of(100000))->context, 100000u);
    const EngineSettings tight = *resolve_settings(options, spec_of(100000));
    EXPECT_EQ(tight.context, tight.capacity());
    EXPECT_LT(tight.context, kDefaultContext);
}

TEST(EngineSettings, context_that_was_asked_for_is_kept) {
    EngineOptions options;
    options.cache_bytes = 100000;
    options.context = 9000;
    EXPECT_EQ(resolve_settings(options, spec_of(100000))->context, 9000u);
}

TEST(EngineSettings, refuses_a_context_longer_than_the_models_naming_both) {
    EngineOptions options = small();
    options.context = 2000;
    const auto refused = resolve_settings(options, spec_of(1000));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    EXPECT_EQ(refused.error().message,
              "--ctx 2000 is more than the 1000 tokens that the model was made for: lower it");
}

TEST(EngineSettings, refuses_a_budget_that_cannot_hold_the_least_sequence) {
    EngineOptions options;
    options.cache_bytes = 4000;
    const auto refused = resolve_settings(options, spec_of(1000));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::memory);
    EXPECT_NE(refused.error().message.find("--cache-ram"), std::string::npos);
}

TEST(EngineSettings, a_budget_holds_more_tokens_of_layers_with_windows) {
    HashModelOptions windows{.n_layers = 4, .windows = {0, 40, 40, 40}};
    HashModelOptions whole = windows;
    whole.windows.clear();
    const auto capacity_of = [](const HashModelOptions& options) {
        EngineOptions engine;
        engine.cache_bytes = 1 << 20;
        engine.block_tokens = 16;
        return resolve_settings(engine, HashModel(options).spec())->capacity();
    };
    const EngineSettings settings = *resolve_settings(small(), HashModel(windows).spec());
    EXPECT_LE(settings.kv.most_blocks(settings.capacity(), kLeastTokens), settings.budget.n_blocks);
    EXPECT_GT(settings.kv.most_blocks(settings.capacity() + 1, kLeastTokens),
              settings.budget.n_blocks);
    EXPECT_GT(2 * capacity_of(windows), 3 * capacity_of(whole));
    windows.windows = {40, 40, 40, 40};
    EXPECT_EQ(capacity_of(windows), capacity_of(whole)) << "the widest window is kept whole";
}

TEST(EngineSettings, refuses_numbers_out_of_their_range) {
    for (auto change : std::initializer_list<void (*)(EngineOptions&)>{
             [](EngineOptions& o) { o.ubatch = 0; }, [](EngineOptions& o) { o.ubatch = 100000; },
             [](EngineOptions& o) { o.block_tokens = 48; },
             [](EngineOptions& o) { o.n_threads = 5000; },
             [](EngineOptions& o) { o.max_sequences = 0; }}) {
        EngineOptions options = small();
        change(options);
        const auto refused = resolve_settings(options, spec_of(1000));
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().kind, ErrorKind::usage);
    }
}

TEST(EngineSettings, logits_rows_fit_their_bytes_and_every_sequence_has_one) {
    EXPECT_EQ(resolve_settings(small(), spec_of(1000))->n_logits_rows, 64u);
    EXPECT_EQ(resolve_settings(small(), spec_of(1000, 262144))->n_logits_rows, 32u);
    EngineOptions many = small();
    many.max_sequences = 100;
    EXPECT_EQ(resolve_settings(many, spec_of(1000, 262144))->n_logits_rows, 100u);
}

TEST(EngineSettings, whatever_kv_depends_on_makes_another_namespace) {
    const NamespaceKey plain = resolve_settings(small(), spec_of(1000))->ns;
    EXPECT_EQ(resolve_settings(small(), spec_of(1000))->ns, plain);
    EngineOptions f32 = small(), q8 = small(), act = small(), block = small();
    f32.kv_type = KvType::f32;
    q8.kv_type = KvType::q8;
    act.act = "f32";
    block.block_tokens = 16;
    for (const EngineOptions& options : {f32, q8, act, block}) {
        EXPECT_NE(resolve_settings(options, spec_of(1000))->ns, plain);
    }
    ModelSpec other = spec_of(1000);
    other.fingerprint += "x";
    EXPECT_NE(resolve_settings(small(), other)->ns, plain);
}

}  // namespace
}  // namespace kvik
