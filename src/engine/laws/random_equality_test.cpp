// Random traffic over the whole step loop: whatever is cached, shared, evicted, preempted, batched
// or cut, every answer has the ids and the logits of a cold computation from its tokens alone.
// KVIK_OPS asks for more operations than the usual number.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "sample/logprob.h"
#include "support/chat_script.h"
#include "support/cold_logits.h"
#include "support/random_costs.h"
#include "testing/hash_model.h"
#include "testing/scratch_folder.h"

namespace kvik {
namespace {

using Kinds = std::map<std::string, uint64_t>;

// Without windows, with one, and with two that share no block: groups of 4, 2 and 1 layers.
HashModelOptions layers_of(uint32_t seed) {
    const std::vector<uint32_t> windows[] = {{}, {0, 40, 40, 0}, {20, 0, 90, 20}};
    return {.n_layers = 4, .windows = windows[seed % 3]};
}

// What an engine is short of.
enum class Mood : uint8_t { roomy, tight, long_winded };

// One engine for some hundred operations, every setting drawn anew.
class Life {
  public:
    Life(uint32_t seed, Kinds& kinds)
        : seed_(seed),
          random_(seed),
          mood_(static_cast<Mood>(seed / 3 % 3)),
          kinds_(kinds),
          model_(layers_of(seed)),
          talk_({.most_tokens = mood_ == Mood::long_winded ? 60u : 150u, .n_conversations = 10},
                seed) {
        const uint32_t block_tokens = 16 << random_.below(3);
        const uint32_t n_tokens = 260 + random_.below(mood_ == Mood::roomy ? 4000 : 200);
        const KvSpec& kv = model_.spec().kv;
        options_ = options_of(kv, 1 + random_.below(60), block_tokens,
                              (n_tokens / block_tokens + 1) * kv.n_groups());
        options_.max_sequences = 1 + random_.below(8);
        if (random_.below(3) == 0) options_.cache_folder = home_.path("kv");
        options_.evict = static_cast<EvictionPolicy>(random_.below(4));
        rig_ = std::make_unique<StepRig>(model_, options_);
        note_block_ = fmt::format("of block {}", block_tokens);
        if (random_.below(2)) rig_->step_loop().use_costs(random_costs(random_.generator));
        shuffle();
    }

    void play(uint32_t n_ops) {
        for (uint32_t i = 0; i < n_ops; ++i) {
            operate();
            if (::testing::Test::HasFailure()) {
                FAIL() << "seed " << seed_ << ", operation " << i;
            }
        }
        finish();
        note(std::string(eviction_name(options_.evict)));
        EXPECT_FALSE(::testing::Test::HasFailure()) << "seed " << seed_;
    }

  private:
    struct RunningRequest {
        Ask ask;
        GenerateRequest request;
        std::shared_ptr<StreamChannel> channel;
        uint32_t n_beside = 0;  // others under way when it was submitted
    };

    void finish() {
        rig_->run();
        hear_all();
        note("preempted", rig_->step_loop().counts().n_preemptions);
        note("blocks evicted", rig_->step_loop().cache_stats().n_evicted_blocks);
        EXPECT_EQ(rig_->step_loop().n_requests(), 0u);
    }

    // Another process over the same folder, whose steps are cut otherwise.
    void restart() {
        if (options_.cache_folder.empty()) return;
        finish();
        rig_.reset();
        options_.ubatch = 1 + random_.below(60);
        rig_ = std::make_unique<StepRig>(model_, options_);
        note("restarted");
    }

    void note(const std::string& kind, uint64_t n = 1) { kinds_[kind] += n; }

    // A free list in an order of its own: requests that hold all blocks end in a random order.
    void shuffle() {
        std::vector<std::shared_ptr<StreamChannel>> holders;
        for (uint32_t i = 0; i < rig_->settings().max_sequences; ++i) {
            GenerateRequest request = request_for(random_tokens(random_, 60), 30, i);
            request.cache = CachePolicy::off;
            holders.push_back(rig_->submit(request));
        }
        while (!holders.empty()) {
            rig_->step();
            const uint32_t i = random_.below(static_cast<uint32_t>(holders.size()));
            holders[i]->cancel();
            holders.erase(holders.begin() + i);
        }
        rig_->run();
    }

    void operate() {
        note("operations");
        switch (random_.below(12)) {
            case 0:
                random_.below(4) > 0 ? abort() : restart();
                break;
            case 1:
            case 2:
            case 3:
                for (uint32_t n = random_.below(16); n > 0; --n) rig_->step();
                hear_all();
                break;
            default:
                submit();
                if (asked_.size() > 24) {
                    rig_->run();
                    hear_all();
                }
        }
    }

    uint32_t n_new() { return random_.below(mood_ == Mood::long_winded ? 100 : 12); }

    void submit() {
        RunningRequest asked;
        asked.ask = talk_.next();
        const std::vector<TokenId>& prompt = asked.ask.prompt;
        asked.request = request_for(prompt, n_new(), random_.below(3));
        if (random_.below(3) == 0) asked.request.sampling.temperature = 0;
        if (random_.below(8) == 0) asked.request.cache = CachePolicy::off;
        asked.request.want_prompt_logprobs = random_.below(10) == 0;
        // Conversations belong to one tenant each; the prompts that they begin with are common to
        // all.
        if (asked.ask.conversation % 3 > 0) {
            asked.request.cache_salt = fmt::format("tenant {}", asked.ask.conversation % 3);
        }
        asked.n_beside = static_cast<uint32_t>(asked_.size());
        asked.channel = rig_->submit(asked.request);
        asked_.push_back(std::move(asked));
    }

    void abort() {
        if (asked_.empty()) return;
        asked_[random_.below(static_cast<uint32_t>(asked_.size()))].channel->cancel();
    }

    void hear_all() {
        for (size_t i = 0; i < asked_.size();) {
            StreamResult& result = told_[asked_[i].channel.get()];
            listen(*asked_[i].channel, result);
            if (result.ended) {
                hear(asked_[i], result);
                told_.erase(asked_[i].channel.get());
                asked_.erase(asked_.begin() + static_cast<std::ptrdiff_t>(i));
            } else {
                ++i;
            }
        }
    }

    void hear(RunningRequest& asked, const StreamResult& result) {
        const bool is_off = asked.request.cache == CachePolicy::off;
        const bool is_aborted = result.summary.reason == FinishReason::cancelled;
        if (is_aborted) asked.request.max_new_tokens = static_cast<uint32_t>(result.ids.size());
        expect_cold(model_, result, asked.request);
        expect_cold_logprobs(asked, result);
        classify(asked, result);
        const auto n_all = static_cast<uint32_t>(asked.ask.prompt.size() + result.ids.size());
        const bool is_published = !is_off && !is_aborted && n_all > 0;
        talk_.heard(asked.ask, result.ids, is_published && !result.ids.empty() ? n_all - 1 : 0);
    }

    void expect_cold_logprobs(const RunningRequest& asked, const StreamResult& result) {
        if (!asked.request.want_prompt_logprobs) return;
        note("prompt logprobs");
        const std::span<const TokenId> prompt = asked.request.prompt;
        const std::vector<float>& values = result.summary.prompt_logprobs;
        if (result.summary.reason != FinishReason::cancelled) {
            EXPECT_EQ(values.size(), prompt.size());
        }
        for (size_t n = 1; n < values.size(); ++n) {
            const double cold = log_softmax_at(model_.cold_logits(prompt.first(n)), prompt[n]);
            EXPECT_EQ(values[n], static_cast<float>(cold));
        }
    }

    void classify(const RunningRequest& asked, const StreamResult& result) {
        const uint32_t n_cached = result.summary.timings.n_cached_tokens;
        note(std::string(kAskKinds[static_cast<size_t>(asked.ask.kind)]));
        if (result.summary.reason == FinishReason::cancelled) note("aborted");
        if (asked.n_beside > 0) note("batched");
        note(note_block_);
        note(fmt::format("of {} groups of layers", model_.spec().kv.n_groups()));
        if (!asked.request.cache_salt.empty()) note("salted");
        if (asked.request.cache == CachePolicy::off) {
            EXPECT_EQ(n_cached, 0u);
            return note("cache off");
        }
        if (n_cached == 0) note("nothing cached");
        if (result.summary.timings.n_disk_tokens > 0) note("warm disk");
        if (n_cached > result.summary.timings.n_disk_tokens) note("warm RAM");
        if (n_cached == asked.ask.prompt.size()) note("wholly cached");
        if (n_cached + 1 < asked.ask.n_known) note("after eviction");
    }

    uint32_t seed_;
    Random random_;
    Mood mood_;
    Kinds& kinds_;
    std::string note_block_;
    HashModel model_;
    ScratchFolder home_;
    EngineOptions options_;
    Talk talk_;
    std::unique_ptr<StepRig> rig_;
    std::vector<RunningRequest> asked_;
    std::map<StreamChannel*, StreamResult> told_;
};

uint32_t n_operations() {
    const char* wanted = std::getenv("KVIK_OPS");
    return wanted ? static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10)) : 30'000;
}

TEST(RandomEquality, every_answer_has_the_bits_of_a_cold_run) {
    constexpr uint32_t kOpsOfALife = 250;
    Kinds kinds;
    for (uint32_t n = 0, seed = 1; n < n_operations(); n += kOpsOfALife, ++seed) {
        Life(seed, kinds).play(kOpsOfALife);
        if (HasFailure()) return;
    }
    for (const auto& [kind, n] : kinds) fmt::print("{:>8} {}\n", n, kind);
    for (const char* kind :
         {"of block 16", "of block 32", "of block 64", "of 1 groups of layers",
          "of 2 groups of layers", "of 4 groups of layers", "aborted", "batched", "salted",
          "cache off", "nothing cached", "warm RAM", "wholly cached", "after eviction", "preempted",
          "blocks evicted", "warm disk", "prompt logprobs"}) {
        EXPECT_GT(kinds[kind], n_operations() / 200) << kind;
    }
    EXPECT_GT(kinds["restarted"], 0u);
    for (const char* policy : {"lru", "lfu", "fifo", "cost"})
        EXPECT_GT(kinds[policy], 0u) << policy;
    for (const std::string_view kind : kAskKinds)
        EXPECT_GT(kinds[std::string(kind)], n_operations() / 200) << kind;
}

}  // namespace
}  // namespace kvik
