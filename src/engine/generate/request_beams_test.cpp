// Beam search over shared blocks finds what a search finds that shares nothing, whichever way it is
// computed.
#include "engine/generate/request_beams.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/naive_beams.h"
#include "support/random_costs.h"
#include "support/requests.h"
#include "support/same_beams.h"
#include "support/step_rig.h"
#include "support/toy_tokenizer.h"
#include "testing/hash_model.h"

namespace kvik {
namespace {

GenerateRequest beams_for(std::vector<TokenId> prompt, uint32_t n_new, const BeamParams& params) {
    GenerateRequest request = request_for(std::move(prompt), n_new);
    request.beams = params;
    return request;
}

class RequestBeamsTest : public ::testing::Test {
  protected:
    EngineOptions options(uint32_t ubatch = 64, uint32_t n_blocks = 200) {
        return options_of(model_.spec().kv, ubatch, 16, n_blocks);
    }
    std::vector<TokenId> tokens(uint32_t n) { return random_tokens(random_, n); }
    ColdLogits cold() {
        return [this](std::span<const TokenId> t) { return model_.cold_logits(t); };
    }
    std::vector<Beam> naive(const GenerateRequest& request, std::vector<TokenId> end_tokens = {}) {
        NaiveBeams naive(cold(), *request.beams, {std::move(end_tokens), request.max_new_tokens});
        return naive.search(request.prompt);
    }
    static StreamResult told_by(StreamChannel& channel) {
        StreamResult result;
        listen(channel, result);
        return result;
    }

    HashModel model_;
    Random random_{1};
};

TEST_F(RequestBeamsTest, finds_what_a_search_without_sharing_finds) {
    for (const uint32_t block_tokens : {16u, 32u, 64u}) {
        for (uint32_t n_beams = 1; n_beams <= 8; ++n_beams) {
            SCOPED_TRACE(::testing::Message() << n_beams << " beams, block " << block_tokens);
            const std::vector<TokenId> end_tokens = random_tokens(random_, random_.below(3));
            StepRig rig(model_,
                        options_of(model_.spec().kv, 1 + random_.below(70), block_tokens, 99),
                        {.tokenizer = nullptr, .end_tokens = end_tokens});
            const GenerateRequest request =
                beams_for(tokens(1 + random_.below(100)), 1 + random_.below(40),
                          {.n_beams = n_beams, .length_penalty = random_.below(4) * 0.5});
            const std::vector<Beam> right = naive(request, end_tokens);
            const StreamResult cold = rig.ask(request);
            expect_same(cold.summary.beams, right);
            EXPECT_EQ(cold.ids, right[0].ids);
            EXPECT_EQ(cold.logprobs, right[0].logprobs);
            EXPECT_EQ(cold.summary.logits_sha256, right[0].logits_sha256);
            EXPECT_EQ(cold.summary.reason, right[0].reason);
            const StreamResult warm = rig.ask(request);
            expect_same(warm.summary.beams, right);
            EXPECT_EQ(warm.summary.timings.n_cached_tokens, request.prompt.size());
        }
    }
}

TEST_F(RequestBeamsTest, is_greedy_with_one_beam) {
    GenerateRequest request = request_for(tokens(20), 30);
    request.sampling.temperature = 0;
    request.want_logprobs = true;
    StepRig rig(model_, options());
    const StreamResult greedy = rig.ask(request);
    request.beams = BeamParams{.n_beams = 1};
    const StreamResult beam = rig.ask(request);
    EXPECT_EQ(beam.ids, greedy.ids);
    EXPECT_EQ(beam.logprobs, greedy.logprobs);
    EXPECT_EQ(beam.summary.logits_sha256, greedy.summary.logits_sha256);
}

// ---- beside others, with too little room, and cancelled ----

// Searches and samples that share prefixes and arrive at any moment.
class BeamTraffic {
  public:
    BeamTraffic(const HashModel& model, uint32_t seed) : model_(model), random_(seed) {
        for (auto& prompt_sequence : stems_)
            prompt_sequence = random_tokens(random_, 5 + random_.below(40));
        end_tokens_ = random_tokens(random_, random_.below(3));
        const uint32_t block_tokens = 16u << random_.below(3);
        EngineOptions options = options_of(model.spec().kv, 1 + random_.below(50), block_tokens,
                                           (500 + random_.below(300)) / block_tokens);
        options.max_sequences = 8 + random_.below(5);
        rig_ = std::make_unique<StepRig>(model, options,
                                         RigText{.tokenizer = nullptr, .end_tokens = end_tokens_});
        if (random_.below(2)) rig_->step_loop().use_costs(random_costs(random_.generator));
    }

    void run() {
        for (uint32_t i = 0; i < 12; ++i) {
            submit();
            if (random_.below(6) == 0)
                asked_[random_.below(static_cast<uint32_t>(asked_.size()))].channel->cancel();
            for (uint32_t n = random_.below(9); n > 0; --n) rig_->step();
        }
        rig_->run();
        for (RunningRequest& asked : asked_) check(asked);
        EXPECT_EQ(rig_->step_loop().n_requests(), 0u);
    }
    uint64_t n_preemptions() const { return rig_->step_loop().counts().n_preemptions; }

  private:
    struct RunningRequest {
        GenerateRequest request;
        std::shared_ptr<StreamChannel> channel;
    };

    void submit() {
        std::vector<TokenId> prompt = stems_[random_.below(3)];
        prompt.resize(1 + random_.below(static_cast<uint32_t>(prompt.size())));
        if (random_.below(2)) prompt = joined(prompt, random_tokens(random_, random_.below(30)));
        GenerateRequest request = request_for(prompt, random_.below(120), random_.below(3));
        request.cache = random_.below(4) ? CachePolicy::reuse : CachePolicy::off;
        if (random_.below(3)) {
            request.beams = {.n_beams = 1 + random_.below(8),
                             .length_penalty = random_.below(5) * 0.5 - 0.5};
            while (!check_request(request, rig_->settings(), model_.spec(), nullptr))
                --request.beams->n_beams;  // as many as there is room for
        }
        asked_.push_back({request, rig_->submit(request)});
    }

    void check(RunningRequest& asked) {
        StreamResult result;
        listen(*asked.channel, result);
        ASSERT_TRUE(result.ended);
        ASSERT_FALSE(result.error.has_value()) << result.error->message;
        if (result.summary.reason == FinishReason::cancelled) return;
        if (asked.request.beams) {
            NaiveBeams naive(
                [&](std::span<const TokenId> tokens) { return model_.cold_logits(tokens); },
                *asked.request.beams, {end_tokens_, asked.request.max_new_tokens});
            expect_same(result.summary.beams, naive.search(asked.request.prompt));
        } else {
            asked.request.max_new_tokens = static_cast<uint32_t>(result.ids.size());
            const Expected expected =
                oracle([&](std::span<const TokenId> tokens) { return model_.cold_logits(tokens); },
                       asked.request);
            EXPECT_EQ(result.ids, expected.ids);
            EXPECT_EQ(result.summary.logits_sha256, expected.hash);
        }
    }

    const HashModel& model_;
    Random random_;
    std::vector<TokenId> stems_[3];
    std::vector<TokenId> end_tokens_;
    std::unique_ptr<StepRig> rig_;
    std::vector<RunningRequest> asked_;
};

TEST_F(RequestBeamsTest, finds_the_same_beside_others_with_preemptions_and_cancels) {
    uint64_t n_preemptions = 0;
    for (uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        BeamTraffic traffic(model_, seed);
        traffic.run();
        n_preemptions += traffic.n_preemptions();
        if (HasFailure()) return;
    }
    EXPECT_GT(n_preemptions, 20u);
}

// Searches that do not fit side by side. A hundred rows bring beams of 80 tokens back: what they
// have in common once, and their own ends.
TEST_F(RequestBeamsTest, computes_what_beams_share_once_after_a_preemption) {
    for (const CachePolicy cache : {CachePolicy::off, CachePolicy::reuse}) {
        StepRig rig(model_, options(64, 18));
        std::vector<GenerateRequest> requests;
        std::vector<std::shared_ptr<StreamChannel>> channels;
        for (int i = 0; i < 4; ++i) {
            requests.push_back(beams_for(tokens(20), 60, {.n_beams = 4}));
            requests.back().cache = cache;
            channels.push_back(rig.submit(requests.back()));
        }
        const uint64_t n_before = model_.n_rows_computed();
        rig.run();
        for (int i = 0; i < 4; ++i)
            expect_same(told_by(*channels[i]).summary.beams, naive(requests[i]));
        const uint64_t n_preemptions = rig.step_loop().counts().n_preemptions;
        EXPECT_GE(n_preemptions, 2u);
        EXPECT_LT(model_.n_rows_computed() - n_before, 4 * (20 + 59 * 4) + n_preemptions * 100);
    }
}

TEST_F(RequestBeamsTest, uses_every_block_there_is_and_refuses_to_need_one_more) {
    const GenerateRequest request = beams_for(tokens(40), 41, {.n_beams = 4});
    const std::vector<Beam> right = naive(request);
    // 40 tokens: two whole blocks and a tail; with 80, three more of each beam.
    const uint32_t n_least = 3 + 4 * 3;
    for (uint32_t n_blocks = n_least; n_blocks < n_least + 2; ++n_blocks) {
        StepRig rig(model_, options(64, n_blocks));
        ASSERT_EQ(rig.settings().budget.n_blocks, n_blocks);
        rig.ask(request_for(tokens(60), 9));  // something to evict
        expect_same(rig.ask(request).summary.beams, right);
        EXPECT_EQ(rig.step_loop().counts().n_preemptions, 0u);
    }
    StepRig rig(model_, options(64, n_least - 1));
    ASSERT_EQ(rig.settings().budget.n_blocks, n_least - 1);
    const auto refused = check_request(request, rig.settings(), model_.spec(), nullptr);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::memory);
    EXPECT_NE(refused.error().message.find("lower --beams"), std::string::npos);
}

TEST_F(RequestBeamsTest, holds_a_tail_for_each_beam_and_the_prompt_once) {
    StepRig rig(model_, options());
    const StreamResult result = rig.ask(beams_for(tokens(160), 10, {.n_beams = 4}));
    EXPECT_EQ(result.summary.n_kv_blocks_shared, 160u / 16 + 4);
    EXPECT_EQ(result.summary.n_kv_blocks_copied, 4u * (160 / 16 + 1));
    EXPECT_EQ(model_.n_rows_computed(), 160u + 9 * 4);
}

TEST_F(RequestBeamsTest, keeps_the_best_answer_for_the_next_turn) {
    StepRig rig(model_, options());
    const std::vector<TokenId> prompt = tokens(30);
    const StreamResult result = rig.ask(beams_for(prompt, 20, {.n_beams = 4}));
    const auto next = joined(joined(prompt, result.ids), tokens(3));
    EXPECT_EQ(rig.ask(request_for(next, 1)).summary.timings.n_cached_tokens, 30u + 19);
}

TEST_F(RequestBeamsTest, keeps_an_answer_that_ended_before_the_others) {
    const GenerateRequest request = beams_for(tokens(30), 20, {.n_beams = 2, .length_penalty = 0});
    const std::vector<TokenId> end_tokens = {naive(request)[0].ids[3]};
    const std::vector<Beam> right = naive(request, end_tokens);
    ASSERT_EQ(right[0].reason, FinishReason::stop);
    ASSERT_EQ(right[0].ids.size(), 3u);
    StepRig rig(model_, options(), {.tokenizer = nullptr, .end_tokens = end_tokens});
    const StreamResult result = rig.ask(request);
    expect_same(result.summary.beams, right);
    const auto next = joined(joined(request.prompt, result.ids), tokens(3));
    EXPECT_EQ(rig.ask(request_for(next, 1)).summary.timings.n_cached_tokens, 30u + 3);
}

TEST_F(RequestBeamsTest, ends_with_length_where_the_context_ends) {
    EngineOptions o = options();
    o.context = 50;
    StepRig rig(model_, o);
    GenerateRequest request = beams_for(tokens(40), UINT32_MAX, {.n_beams = 3});
    const StreamResult result = rig.ask(request);
    EXPECT_EQ(result.summary.reason, FinishReason::length);
    request.max_new_tokens = 10;
    expect_same(result.summary.beams, naive(request));
    const StreamResult full = rig.ask(beams_for(tokens(50), UINT32_MAX, {.n_beams = 3}));
    EXPECT_EQ(full.ids.size(), 0u);
    EXPECT_TRUE(full.summary.beams.empty());
    EXPECT_EQ(full.summary.reason, FinishReason::length);
}

TEST_F(RequestBeamsTest, tells_what_there_is_when_it_is_cancelled) {
    StepRig rig(model_, options());
    const auto channel = rig.submit(beams_for(tokens(20), 100, {.n_beams = 3}));
    for (int i = 0; i < 6; ++i) rig.step();
    channel->cancel();
    rig.run();
    const StreamResult result = told_by(*channel);
    EXPECT_EQ(result.summary.reason, FinishReason::cancelled);
    ASSERT_EQ(result.summary.beams.size(), 3u);
    EXPECT_EQ(result.ids, result.summary.beams[0].ids);
    EXPECT_EQ(result.ids.size(), 6u);
    EXPECT_EQ(rig.step_loop().n_requests(), 0u);
}

TEST_F(RequestBeamsTest, runs_no_more_sequences_than_there_may_be) {
    EngineOptions o = options();
    o.max_sequences = 8;
    StepRig rig(model_, o);
    std::vector<GenerateRequest> requests;
    std::vector<std::shared_ptr<StreamChannel>> channels;
    for (uint32_t i = 0; i < 5; ++i) {
        requests.push_back(beams_for(tokens(5 + i), 12, {.n_beams = 3 + i}));
        channels.push_back(rig.submit(requests.back()));
    }
    rig.run();
    for (uint32_t i = 0; i < 5; ++i)
        expect_same(told_by(*channels[i]).summary.beams, naive(requests[i]));
    const auto refused = check_request(beams_for(tokens(5), 12, {.n_beams = 9}), rig.settings(),
                                       model_.spec(), nullptr);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "--beams 9 is not in 1 .. 8, the sequences that run at once");
}

TEST_F(RequestBeamsTest, shows_the_rows_of_its_prompts_logits) {
    StepRig rig(model_, options(7, 60));
    GenerateRequest request = beams_for(tokens(40), 5, {.n_beams = 3});
    uint32_t n_seen = 0;
    request.on_prompt_logits = [&](uint32_t position, std::span<const float>) {
        EXPECT_EQ(position, n_seen++);
    };
    const StreamResult result = rig.ask(request);
    EXPECT_EQ(n_seen, 40u);
    expect_same(result.summary.beams, naive(request));
}

TEST_F(RequestBeamsTest, refuses_what_it_cannot_mean) {
    StepRig rig(model_, options());
    const auto message = [&](GenerateRequest request) {
        const auto checked = check_request(request, rig.settings(), model_.spec(), nullptr);
        return checked ? std::string("accepted") : checked.error().message;
    };
    GenerateRequest request = beams_for({1}, 3, {.n_beams = 0});
    EXPECT_EQ(message(request), "--beams 0 is not in 1 .. 16, the sequences that run at once");
    request.beams = {.n_beams = 2, .length_penalty = std::nan("")};
    EXPECT_EQ(message(request), "--length-penalty nan is not in -10 .. 10");
    request.beams = BeamParams{};
    EXPECT_EQ(message(request), "accepted");
    request.sampling.repeat_penalty = 1.5f;
    EXPECT_EQ(message(request),
              "beam search follows the model's own probabilities: leave out penalties and "
              "--logit-bias");
}

// ---- text ----

TEST_F(RequestBeamsTest, ends_a_beam_at_a_stop_string_whatever_the_others_say) {
    std::vector<std::string> pieces;
    for (uint32_t i = 0; i < model_.spec().vocab_size; ++i)
        pieces.push_back({static_cast<char>('a' + i % 7), static_cast<char>('a' + i % 5)});
    const ToyTokenizer tokenizer(pieces);
    const auto text_of = [&](std::span<const TokenId> ids) {
        std::string text;
        for (const TokenId id : ids) text += pieces[static_cast<size_t>(id)];
        return text;
    };
    for (uint32_t round = 0; round < 30; ++round) {
        SCOPED_TRACE(::testing::Message() << "round " << round);
        GenerateRequest request = beams_for(tokens(20), 30, {.n_beams = 1 + random_.below(5)});
        request.stop = {round % 2 ? "bc" : "fad", "ggb"};
        const auto stops = [&](std::span<const TokenId> ids) {
            const std::string text = text_of(ids);
            return text.find(request.stop[0]) != std::string::npos ||
                   text.find(request.stop[1]) != std::string::npos;
        };
        NaiveBeams naive(cold(), *request.beams, {{}, 30, stops});
        const std::vector<Beam> right = naive.search(request.prompt);
        StepRig rig(model_, options(), {.tokenizer = &tokenizer, .end_tokens = {}});
        const StreamResult result = rig.ask(request);
        expect_same(result.summary.beams, right);
        for (const Beam& beam : result.summary.beams) {
            const std::string all = text_of(beam.ids);
            const size_t end = std::min(all.find(request.stop[0]), all.find(request.stop[1]));
            EXPECT_EQ(beam.text, all.substr(0, end));
            EXPECT_EQ(end != std::string::npos, beam.reason == FinishReason::stop);
        }
        EXPECT_EQ(result.text, result.summary.beams[0].text);
    }
}

// ---- failures ----

// Notes which tokens it computes, and refuses one of them.
class PickyModel final : public Model {
  public:
    PickyModel(const HashModel& model, TokenId refused) : model_(model), refused_(refused) {}
    const ModelSpec& spec() const override { return model_.spec(); }
    Result<std::unique_ptr<Scratch>> make_scratch(const ScratchLimits& limits,
                                                  ThreadPool& pool) const override {
        return model_.make_scratch(limits, pool);
    }
    Result<void> forward(const Batch& batch, const KvView& kv, Scratch& scratch,
                         std::span<float> logits) const override {
        for (const TokenId token : batch.tokens) {
            computed.insert(token);
            if (token == refused_) return fail(ErrorKind::failed, "layer 3: not a number");
        }
        return model_.forward(batch, kv, scratch, logits);
    }

    mutable std::set<TokenId> computed;

  private:
    const HashModel& model_;
    TokenId refused_;
};

TEST_F(RequestBeamsTest, ends_only_the_search_whose_forward_fails) {
    const GenerateRequest healthy = beams_for(tokens(9), 12, {.n_beams = 3});
    const PickyModel watched(model_, -1);
    const std::vector<Beam> right = StepRig(watched, options()).ask(healthy).summary.beams;
    for (uint32_t round = 0; round < 10; ++round) {
        const GenerateRequest ill = beams_for(tokens(9), 40, {.n_beams = 4});
        TokenId refused = -1;
        std::vector<TokenId> best = naive(ill)[0].ids;
        best.pop_back();  // it is never computed
        for (const TokenId id : best)
            if (!watched.computed.contains(id) &&
                !std::count(ill.prompt.begin(), ill.prompt.end(), id))
                refused = id;
        if (refused < 0) continue;
        const PickyModel model(model_, refused);
        StepRig rig(model, options());
        const auto of_ill = rig.submit(ill);
        const auto of_healthy = rig.submit(healthy);
        rig.run();
        expect_same(told_by(*of_healthy).summary.beams, right);
        const StreamResult result = told_by(*of_ill);
        ASSERT_TRUE(result.error.has_value());
        EXPECT_EQ(result.error->message, "layer 3: not a number");
        EXPECT_TRUE(result.ids.empty());
        return;
    }
    FAIL() << "no token is the ill search's alone";
}

}  // namespace
}  // namespace kvik
