#include "lab/multiturn.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/multiturn_script.h"
#include "lab/prompt_writer.h"

namespace kvik::lab {
namespace {

struct Planned {
    Part part = Part::grow;
    uint32_t number = 0;
    std::string said;
};

std::vector<Planned> plan(uint32_t n_turns) {
    std::vector<Planned> all;
    for (uint32_t i = 0; i < n_turns; ++i)
        all.push_back({Part::grow, i + 1, std::string(long_talk()[i])});
    const uint32_t changed = n_turns / 2;  // the message in the middle
    all.push_back({Part::edit, changed + 1, edited(changed)});
    for (uint32_t i = 0; i < other_talk().size(); ++i)
        all.push_back({Part::reset, i + 1, std::string(other_talk()[i])});
    all.push_back({Part::back, n_turns + 1, std::string(last_word())});
    return all;
}

uint32_t common_prefix(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
    const size_t n = std::min(a.size(), b.size());
    const auto end =
        std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin());
    return static_cast<uint32_t>(end.first - a.begin());
}

// The conversations of one round: each is what one way of asking sees.
class Round {
  public:
    Round(Engine& engine, const PromptWriter& writer, const MultiturnOptions& options,
          DepthMeter& meter, uint32_t number)
        : engine_(&engine),
          writer_(&writer),
          options_(&options),
          meter_(&meter),
          number_(number),
          salt_(fmt::format("round {}", number)) {}

    Result<void> take(const Planned& planned, Turn& turn);

  private:
    std::vector<Exchange>& conversation_of(const Planned& planned);
    Result<void> ask_on(const std::vector<TokenId>& prompt, Turn& turn);
    Result<void> ask_off(const std::vector<TokenId>& prompt, Turn& turn);
    Result<void> measure_depth(Turn& turn);
    Result<void> compare(const Planned& planned, const Turn& turn) const;

    Engine* engine_;
    const PromptWriter* writer_;
    const MultiturnOptions* options_;
    DepthMeter* meter_;
    uint32_t number_;
    std::string salt_;  // nothing of the rounds before is found
    std::vector<Exchange> long_, edited_, other_;
    std::vector<std::vector<TokenId>> computed_;  // sequences, as far as their KV is there
    std::optional<Told> on_, off_;
};

// The conversation as it stands before the turn.
std::vector<Exchange>& Round::conversation_of(const Planned& planned) {
    switch (planned.part) {
        case Part::edit:
            edited_.assign(long_.begin(), long_.begin() + (planned.number - 1));
            return edited_;
        case Part::reset:
            return other_;
        case Part::grow:
        case Part::back:
            break;
    }
    return long_;
}

Result<void> Round::ask_on(const std::vector<TokenId>& prompt, Turn& turn) {
    turn.n_known = 0;
    for (const auto& sequence : computed_)
        turn.n_known = std::max(turn.n_known, common_prefix(sequence, prompt));
    KVIK_TRY(on_, ask(*engine_, {.prompt = prompt, .n_answer = options_->n_answer, .salt = salt_}));
    turn.n_reused = on_->summary.timings.n_cached_tokens;
    turn.kv_bytes = on_->summary.n_kv_blocks * engine_->cache_stats().block_bytes;
    turn.on.first_ms.push_back(on_->first_ms);
    turn.on.total_ms.push_back(on_->total_ms);
    // The last token of an answer is picked and never computed.
    computed_.push_back(prompt);
    computed_.back().insert(computed_.back().end(), on_->ids.begin(), on_->ids.end() - 1);
    if (turn.n_reused <= turn.n_known) return {};
    return fail(ErrorKind::failed,
                fmt::format("{} tokens were reused, but only {} were ever computed", turn.n_reused,
                            turn.n_known));
}

Result<void> Round::ask_off(const std::vector<TokenId>& prompt, Turn& turn) {
    KVIK_TRY(off_,
             ask(*engine_,
                 {.prompt = prompt, .n_answer = options_->n_answer, .cache = CachePolicy::off}));
    turn.off.first_ms.push_back(off_->first_ms);
    turn.off.total_ms.push_back(off_->total_ms);
    if (!options_->reuse_on)
        turn.kv_bytes = off_->summary.n_kv_blocks * engine_->cache_stats().block_bytes;
    return {};
}

Result<void> Round::measure_depth(Turn& turn) {
    KVIK_TRY(const double ms,
             meter_->first_ms({.depth = turn.n_reused, .n_tokens = turn.n_computed()}));
    turn.at_depth_ms.push_back(ms);
    return {};
}

Result<void> Round::compare(const Planned& planned, const Turn& turn) const {
    const auto differ = [&](std::string_view what) {
        return fail(ErrorKind::failed,
                    fmt::format("round {}, {} turn {}: {} differ: the cache is not exact here",
                                number_ + 1, part_name(planned.part), planned.number, what));
    };
    if (on_ && off_ && on_->ids != off_->ids)
        return differ("the answers with reuse and without it");
    if (on_ && off_ && on_->summary.logits_sha256 != off_->summary.logits_sha256)
        return differ("the logits with reuse and without it");
    const std::string& hash = (on_ ? on_ : off_)->summary.logits_sha256;
    if (number_ > 0 && hash != turn.logits_sha256) return differ("the logits of two rounds");
    return {};
}

Result<void> Round::take(const Planned& planned, Turn& turn) {
    std::vector<Exchange>& conversation = conversation_of(planned);
    conversation.push_back({planned.said});
    KVIK_TRY(const std::vector<TokenId> prompt, writer_->ids(conversation));
    turn.part = planned.part;
    turn.number = planned.number;
    turn.n_prompt = static_cast<uint32_t>(prompt.size());
    turn.n_answer = options_->n_answer;
    on_.reset();
    off_.reset();
    // The yardstick between both; what was reused is known before only after the first round.
    const bool on_first = number_ % 2 == 0;
    if (options_->reuse_off && !on_first) KVIK_TRY_VOID(ask_off(prompt, turn));
    if (options_->reuse_on && !on_first) KVIK_TRY_VOID(measure_depth(turn));
    if (options_->reuse_on) KVIK_TRY_VOID(ask_on(prompt, turn));
    if (options_->reuse_on && on_first) KVIK_TRY_VOID(measure_depth(turn));
    if (options_->reuse_off && on_first) KVIK_TRY_VOID(ask_off(prompt, turn));
    KVIK_TRY_VOID(compare(planned, turn));
    const Told& told = on_ ? *on_ : *off_;
    turn.logits_sha256 = told.summary.logits_sha256;
    conversation.back().answer = told.ids;
    return {};
}

}  // namespace

std::string_view part_name(Part part) {
    constexpr std::string_view kNames[] = {"grow", "edit", "reset", "back"};
    return kNames[static_cast<size_t>(part)];
}

uint32_t most_turns() {
    return static_cast<uint32_t>(long_talk().size());
}

Result<MultiturnResult> run_multiturn(Engine& engine, const MultiturnOptions& options) {
    KVIK_TRY(const PromptWriter writer, PromptWriter::open(engine, system_prompt()));
    const std::vector<Planned> planned = plan(options.n_turns);
    DepthMeter meter(engine);
    MultiturnResult result{.turns = std::vector<Turn>(planned.size()), .raw = writer.is_raw()};
    // Warms up: the clock of the processor, and whatever is read for the first time.
    KVIK_TRY_VOID(meter.first_ms({.n_tokens = std::min(512u, engine.used().context / 2)}));
    for (uint32_t number = 0; number < options.n_rounds; ++number) {
        Round round(engine, writer, options, meter, number);
        for (size_t i = 0; i < planned.size(); ++i) {
            if (options.progress)
                options.progress(fmt::format("round {} of {}: {} turn {}", number + 1,
                                             options.n_rounds, part_name(planned[i].part),
                                             planned[i].number));
            KVIK_TRY_VOID(round.take(planned[i], result.turns[i]));
        }
    }
    return result;
}

}  // namespace kvik::lab
