// What becomes of KV that a conversation goes on without, by policy and by what happened.
#include "engine/engine_settings.h"
#include "support/session_rig.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

class SessionInvalidationTest : public SessionTest {
  protected:
    // A conversation of three turns under a system message, about 150 tokens.
    void talk(Invalidation invalidation) {
        session_ = Session(*engine_, {.invalidation = invalidation});
        session_.set_system("you are a very helpful and rather brief assistant");
        for (int turn = 0; turn < 3; ++turn) last_ = say("hello there", how(20));
    }
    uint32_t n_cached_of(const Said& said) { return said.summary.timings.n_cached_tokens; }
    uint64_t n_cached_tokens() { return engine_->cache_stats().n_cached_tokens; }

    // What each trigger does. Under every policy the answer has the bits of a cold run.
    void change_and_check(const std::function<Said()>& change) {
        for (const Invalidation invalidation :
             {Invalidation::full, Invalidation::partial, Invalidation::lazy}) {
            engine_ = open();
            talk(invalidation);
            const Said warm = change();
            EXPECT_EQ(session_.stats().n_invalidations, 1u);
            const uint32_t n_held = last_.summary.timings.n_prompt_tokens + 20;
            const uint64_t n_invalidated = session_.stats().n_invalidated_tokens;
            if (invalidation == Invalidation::full) {
                EXPECT_EQ(n_cached_of(warm), 0u);
                EXPECT_EQ(n_invalidated, n_held);
            } else {
                EXPECT_GE(n_cached_of(warm) + n_invalidated, n_held);
                EXPECT_LT(n_invalidated, n_held);
            }
            expect_bits_of_a_cold_run(warm);
        }
    }
    void expect_bits_of_a_cold_run(const Said& warm) {
        Session again = session_.fork(session_.messages().size() - 1);
        GenerateRequest request = how(static_cast<uint32_t>(warm.ids.size()));
        request.cache = CachePolicy::off;
        const Said cold = said(again.regenerate(request));
        EXPECT_EQ(cold.summary.timings.n_cached_tokens, 0u);
        EXPECT_EQ(cold.ids, warm.ids);
        EXPECT_EQ(cold.summary.logits_sha256, warm.summary.logits_sha256);
    }

    Said last_;
    Random random_{1};
};

TEST_F(SessionInvalidationTest, another_system_message) {
    change_and_check([&] {
        session_.set_system("you are a very helpful and never brief assistant");
        return say("hello there", how(5));
    });
}

TEST_F(SessionInvalidationTest, an_earlier_message_edited) {
    change_and_check([&] { return said(session_.edit(3, "hello where", how(5))); });
}

TEST_F(SessionInvalidationTest, an_edit_computes_from_the_first_token_that_differs) {
    talk(Invalidation::partial);
    const std::vector<ChatMessage> before(session_.messages().begin(),
                                          session_.messages().begin() + 3);
    const uint32_t n_before = session_.fork(3).stats().n_tokens;
    const Said edited = said(session_.edit(3, "hello where", how(5)));
    // What the templates writes before a message, and the pairs "he", "ll".
    const auto common = engine_->tokenizer()->encode("<|e|><|s|>user:hell", Specials::recognised);
    EXPECT_EQ(n_cached_of(edited), n_before + common.size() + 1) << "and 'o'";
}

TEST_F(SessionInvalidationTest, a_request_that_is_no_continuation) {
    change_and_check([&] {
        session_.restore({{"system", "you are a very helpful and rather brief assistant"},
                          {"user", "something else"},
                          {"assistant", "yes"}});
        return say("hello", how(5));
    });
}

TEST_F(SessionInvalidationTest, another_topic) {
    for (const Invalidation invalidation :
         {Invalidation::full, Invalidation::partial, Invalidation::lazy}) {
        engine_ = open();
        talk(invalidation);
        const uint64_t n_before = n_cached_tokens();
        ASSERT_TRUE(session_.reset_topic().has_value());
        EXPECT_EQ(session_.messages().size(), 1u);
        EXPECT_EQ(session_.stats().n_invalidations, 1u);
        const Said next = say("other", how(5));
        if (invalidation == Invalidation::full) {
            EXPECT_EQ(n_cached_of(next), 0u);
            EXPECT_LT(n_cached_tokens(), n_before);
        } else {
            EXPECT_GT(n_cached_of(next), 20u) << "the system message is still there";
            EXPECT_GT(n_cached_tokens(), n_before);
        }
        expect_bits_of_a_cold_run(next);
    }
}

TEST_F(SessionInvalidationTest, the_limit_of_the_context) {
    for (const Invalidation invalidation : {Invalidation::full, Invalidation::partial}) {
        engine_ = open(200);
        session_ = Session(*engine_,
                           {.invalidation = invalidation, .overflow = Overflow::truncate_oldest});
        session_.set_system("you are a very helpful and rather brief assistant");
        for (int turn = 0; session_.stats().n_left_out == 0; ++turn) {
            ASSERT_LT(turn, 20);
            last_ = say("hello there", how(20));
        }
        EXPECT_EQ(session_.stats().n_invalidations, 1u);
        EXPECT_EQ(n_cached_of(last_) > 0, invalidation == Invalidation::partial);
        expect_bits_of_a_cold_run(last_);
    }
}

TEST_F(SessionInvalidationTest, going_on_back_or_apart_makes_nothing_wrong) {
    for (const Invalidation invalidation : {Invalidation::full, Invalidation::lazy}) {
        engine_ = open();
        talk(invalidation);
        GenerateRequest other_seed = how(5);
        other_seed.sampling.seed = 8;
        said(session_.regenerate(other_seed));
        said(session_.resume(how(3)));
        Session other = session_.fork(3);
        said(other.send("other", how(5)));
        EXPECT_EQ(session_.stats().n_invalidations, 0u);
        EXPECT_EQ(other.stats().n_invalidations, 0u);
        EXPECT_GT(n_cached_of(say("again", how(2))), 100u);
    }
}

TEST_F(SessionInvalidationTest, full_forgets_nothing_that_another_conversation_goes_on_from) {
    talk(Invalidation::full);
    Session other = session_.fork(3);
    const Said branch = said(other.send("other", how(5)));
    ASSERT_TRUE(session_.reset_topic().has_value());
    const Said next = said(other.send("again", how(2)));
    EXPECT_EQ(n_cached_of(next), branch.summary.timings.n_prompt_tokens + 4);
}

TEST_F(SessionInvalidationTest, a_refused_turn_invalidates_nothing) {
    talk(Invalidation::full);
    session_.set_system("another");
    EXPECT_FALSE(session_.send(std::string(900, 'z'), how(1)).has_value());
    EXPECT_EQ(session_.stats().n_invalidations, 0u);
}

TEST_F(SessionInvalidationTest, what_a_client_forgets_is_gone_before_its_next_request) {
    GenerateRequest request = request_for(random_tokens(random_, 80), 4);
    const Said first = said(engine_->submit(request));
    EXPECT_EQ(said(engine_->submit(request)).summary.timings.n_cached_tokens, 80u);
    ASSERT_TRUE(engine_->forget(request.prompt, 0, ForgetKind::now, "a").has_value());
    EXPECT_EQ(said(engine_->submit(request)).summary.timings.n_cached_tokens, 80u)
        << "another salt's";
    ASSERT_TRUE(
        engine_->forget(joined(request.prompt, first.ids), 40, ForgetKind::now).has_value());
    const Said next = said(engine_->submit(request));
    EXPECT_GE(next.summary.timings.n_cached_tokens, 32u);
    EXPECT_LE(next.summary.timings.n_cached_tokens, 48u);
    EXPECT_EQ(next.summary.logits_sha256, first.summary.logits_sha256);
}

TEST_F(SessionInvalidationTest, another_model_or_kind_of_numbers_finds_nothing) {
    const EngineOptions options = options_of(HashModel(HashModelOptions{}).spec().kv, 64, 16, 100);
    const auto ns_of = [](const EngineOptions& with, const HashModelOptions& model) {
        return resolve_settings(with, HashModel(model).spec())->ns;
    };
    const NamespaceKey ns = ns_of(options, {});
    EXPECT_EQ(ns_of(options, {}), ns);
    EXPECT_NE(ns_of(options, {.seed = 2}), ns) << "other weights";
    EngineOptions other = options;
    other.act = "f32";
    EXPECT_NE(ns_of(other, {}), ns);
    EXPECT_NE(namespace_within(ns, {.adapter = "a", .salt = {}}), ns);
    EXPECT_NE(namespace_within(ns, {.adapter = "a", .salt = {}}),
              namespace_within(ns, {.adapter = "b", .salt = {}}));
}

TEST_F(SessionInvalidationTest, what_is_stale_is_evicted_before_all_else) {
    uint32_t n_found[2];
    for (const bool is_lazy : {false, true}) {
        engine_ = open();
        talk(is_lazy ? Invalidation::lazy : Invalidation::partial);
        GenerateRequest again = how(1);
        again.prompt = *engine_->encode_chat(session_.messages());
        ASSERT_TRUE(session_.reset_topic().has_value());
        // Something else, until some of what there was has to go.
        const GenerateRequest other = request_for(random_tokens(random_, 80), 1);
        said(engine_->submit(other));
        while (engine_->cache_stats().n_evicted_blocks < 4) {
            said(engine_->submit(request_for(random_tokens(random_, 100), 1)));
        }
        EXPECT_GE(n_cached_of(said(engine_->submit(other))), 79u);
        n_found[is_lazy ? 1 : 0] = n_cached_of(said(engine_->submit(again)));
    }
    EXPECT_LT(n_found[1] + 3 * 16, n_found[0]);
}

// ---- a context that is full ----

class SessionOverflowTest : public SessionTest {
  protected:
    SessionOverflowTest() {
        engine_ = open(200);
        session_ = Session(*engine_, {.overflow = Overflow::truncate_oldest});
        session_.set_system("be brief");
    }
    void talk_until_something_is_left_out() {
        for (int turn = 0; session_.stats().n_left_out == 0; ++turn) {
            ASSERT_LT(turn, 40);
            last_ = say("hello there", how(20));
        }
    }
    Said last_;
};

TEST_F(SessionOverflowTest, is_an_error_that_names_both_numbers_unless_asked_otherwise) {
    session_.set_options({});
    Result<Stream> refused = session_.send(std::string(900, 'z'), how(1));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::context);
    EXPECT_NE(refused.error().message.find("context is 200"), std::string::npos);
    EXPECT_NE(refused.error().message.find("prompt has 4"), std::string::npos);
}

TEST_F(SessionOverflowTest, leaves_out_the_oldest_exchanges_and_computes_the_rest_exactly) {
    talk_until_something_is_left_out();
    const SessionStats stats = session_.stats();
    EXPECT_EQ(stats.n_left_out % 2, 0u) << "whole exchanges";
    EXPECT_LE(last_.summary.timings.n_prompt_tokens + 20, 200u);
    EXPECT_EQ(last_.ids.size(), 20u) << "there is room for the answer";
    std::vector<ChatMessage> kept = session_.messages();
    EXPECT_EQ(kept.size(), stats.n_messages) << "the conversation has them still";
    kept.pop_back();
    kept.erase(kept.begin() + 1, kept.begin() + 1 + stats.n_left_out);
    EXPECT_EQ(kept[0].content, "be brief");
    EXPECT_EQ(kept[1].role, "user");
    GenerateRequest request = how(20);
    request.prompt = *engine_->encode_chat(kept);
    request.cache = CachePolicy::off;
    const Said cold = said(engine_->submit(request));
    EXPECT_EQ(cold.ids, last_.ids);
    EXPECT_EQ(cold.summary.logits_sha256, last_.summary.logits_sha256);
}

TEST_F(SessionOverflowTest, leaves_out_enough_for_some_turns_that_find_their_prefix_again) {
    talk_until_something_is_left_out();
    const uint32_t n_left_out = session_.stats().n_left_out;
    const Said next = say("hello there", how(3));
    EXPECT_EQ(session_.stats().n_left_out, n_left_out);
    EXPECT_GE(next.summary.timings.n_cached_tokens, last_.summary.timings.n_prompt_tokens + 19);
}

TEST_F(SessionOverflowTest, going_back_before_what_was_left_out_has_all_of_it_again) {
    talk_until_something_is_left_out();
    session_.rewind(session_.stats().n_left_out);
    EXPECT_EQ(session_.stats().n_left_out, 0u);
    say("again", how(2));
    EXPECT_EQ(session_.stats().n_left_out, 0u);
}

TEST_F(SessionOverflowTest, never_leaves_out_the_system_message_or_the_last_one) {
    say("hello", how(3));
    const auto refused = session_.send(std::string(900, 'z'), how(1));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::context);
    EXPECT_EQ(session_.messages().size(), 3u);
    EXPECT_EQ(session_.stats().n_left_out, 0u);
}

}  // namespace
}  // namespace kvik
