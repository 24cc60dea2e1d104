// Whose KV may be used for whom: everything that KV depends on, and who may know of it.
#include <gtest/gtest.h>

#include "support/cold_logits.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

NamespaceKey key_of(const EngineOptions& options, const ModelSpec& model) {
    const auto settings = resolve_settings(options, model);
    EXPECT_TRUE(settings.has_value());
    return settings->ns;
}

TEST(Keys, differ_with_everything_that_kv_depends_on) {
    const HashModel model, other({.seed = 2});
    const EngineOptions options = options_of(model.spec().kv, 64, 32, 100);
    const NamespaceKey key = key_of(options, model.spec());
    EXPECT_EQ(key_of(options, model.spec()), key);
    EXPECT_NE(key_of(options, other.spec()), key) << "weights";
    EngineOptions changed = options;
    changed.kv_type = KvType::f32;
    EXPECT_NE(key_of(changed, model.spec()), key) << "type of KV";
    changed = options;
    changed.act = "f32";
    EXPECT_NE(key_of(changed, model.spec()), key) << "activations";
    changed = options;
    changed.block_tokens = 16;
    EXPECT_NE(key_of(changed, model.spec()), key) << "block";
    // What it does not depend on does not part what could be shared.
    changed = options;
    changed.ubatch = 7;
    changed.max_sequences = 3;
    changed.context = 200;
    EXPECT_EQ(key_of(changed, model.spec()), key);
}

// An adapter is named by its content: reloaded under the same name with another one, it is another.
TEST(Keys, of_an_adapter_are_those_of_its_content) {
    const NamespaceKey model = namespace_key({"model"});
    const auto with = [&](std::string_view digest) {
        return namespace_within(model, {.adapter = digest, .salt = ""});
    };
    EXPECT_EQ(with("3f1c at 1.0"), with("3f1c at 1.0"));
    EXPECT_NE(with("3f1c at 1.0"), with("77ab at 1.0"));
    EXPECT_NE(with("3f1c at 1.0"), with("3f1c at 0.5"));
    EXPECT_NE(with("3f1c at 1.0"), model);
}

TEST(Keys, keep_one_tenants_kv_from_the_others) {
    const HashModel model;
    Random random(1);
    StepRig rig(model, options_of(model.spec().kv, 64, 16, 200));
    const std::vector<TokenId> prompt = random_tokens(random, 90);
    for (const char* salt : {"", "a", "b", "ab"}) {
        SCOPED_TRACE(salt);
        GenerateRequest request = request_for(prompt, 3);
        request.cache_salt = salt;
        const StreamResult first = rig.ask(request);
        EXPECT_EQ(first.summary.timings.n_cached_tokens, 0u);
        expect_cold(model, first, request);
        const StreamResult second = rig.ask(request);
        EXPECT_EQ(second.summary.timings.n_cached_tokens, 90u);
        expect_cold(model, second, request);
    }
    EXPECT_EQ(model.n_rows_computed(), 4 * (90u + 2 + 2));
}

// Nor do they wait for each other, as requests with one prefix would: the time to a first token
// would tell as much.
TEST(Keys, let_no_tenant_wait_for_the_prefix_of_another) {
    const HashModel model;
    Random random(1);
    StepRig rig(model, options_of(model.spec().kv, 512, 16, 200));
    const std::vector<TokenId> prompt = random_tokens(random, 90);
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (const char* salt : {"a", "b"}) {
        GenerateRequest request = request_for(prompt, 1);
        request.cache_salt = salt;
        channels.push_back(rig.submit(request));
    }
    rig.step();
    for (const auto& channel : channels) {
        StreamResult result;
        listen(*channel, result);
        EXPECT_EQ(result.ids.size(), 1u);
    }
    rig.run();
}

}  // namespace
}  // namespace kvik
