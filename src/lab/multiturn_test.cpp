#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "lab/multiturn_report.h"
#include "lab/multiturn_script.h"
#include "lab/prompt_writer.h"
#include "support/toy_tokenizer.h"
#include "testing/hash_model.h"

namespace kvik::lab {
namespace {

constexpr uint32_t kVocabulary = 101;
constexpr std::string_view kTemplate =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

// What gives other bits each time, as no model may.
class MoodyModel final : public Model {
  public:
    const ModelSpec& spec() const override { return model_.spec(); }
    Result<std::unique_ptr<Scratch>> make_scratch(const ScratchLimits& limits,
                                                  ThreadPool& pool) const override {
        return model_.make_scratch(limits, pool);
    }
    Result<void> forward(const Batch& batch, const KvView& kv, Scratch& scratch,
                         std::span<float> logits) const override {
        KVIK_TRY_VOID(model_.forward(batch, kv, scratch, logits));
        if (!logits.empty()) logits[0] += static_cast<float>(++n_forwards_);
        return {};
    }

  private:
    HashModel model_{{.vocab_size = kVocabulary, .context_length = 1 << 14}};
    mutable std::atomic<uint32_t> n_forwards_ = 0;
};

std::unique_ptr<Model> hash_model() {
    return std::make_unique<HashModel>(
        HashModelOptions{.vocab_size = kVocabulary, .context_length = 1 << 14});
}

// One token a character.
ModelText text_with(std::string_view chat_template) {
    std::vector<std::string> pieces;
    for (char c = ' '; c <= '~'; ++c) pieces.emplace_back(1, c);
    pieces.resize(kVocabulary);  // the others are of no text
    ModelText text{.tokenizer = std::make_unique<ToyTokenizer>(pieces), .chat_template = nullptr};
    if (!chat_template.empty())
        text.chat_template = std::make_unique<ChatTemplate>(
            std::move(*ChatTemplate::compile(std::string(chat_template))));
    return text;
}

std::unique_ptr<Engine> engine_over(std::unique_ptr<Model> model,
                                    std::string_view chat_template = kTemplate) {
    EngineOptions options;
    options.context = 1 << 14;
    options.n_threads = 1;
    options.calibrate = Calibrate::off;
    auto engine = Engine::over(std::move(model), text_with(chat_template), options);
    if (!engine) throw std::runtime_error(engine.error().message);
    return std::move(*engine);
}

constexpr uint32_t kTurns = 3, kAnswer = 5;

MultiturnResult measured(Engine& engine, MultiturnOptions options = {}) {
    options.n_turns = kTurns;
    options.n_answer = kAnswer;
    options.n_rounds = 2;
    auto result = run_multiturn(engine, options);
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(*result);
}

TEST(Multiturn, every_turn_computes_what_is_new_and_the_last_token_of_the_answer) {
    auto engine = engine_over(hash_model());
    const auto result = measured(*engine);
    ASSERT_EQ(result.turns.size(), kTurns + 4u);
    EXPECT_EQ(result.turns[0].n_reused, 0u);
    for (uint32_t i = 1; i < kTurns; ++i) {
        EXPECT_EQ(result.turns[i].n_reused, result.turns[i - 1].n_prompt + kAnswer - 1);
        EXPECT_EQ(result.turns[i].n_reused, result.turns[i].n_known);
        EXPECT_EQ(result.turns[i].on.first_ms.size(), 2u);
        EXPECT_EQ(result.turns[i].at_depth_ms.size(), 2u);
    }
}

TEST(Multiturn, an_edited_message_is_computed_from_its_first_different_token_on) {
    auto engine = engine_over(hash_model());
    const auto result = measured(*engine);
    const Turn& edit = result.turns[kTurns];
    ASSERT_EQ(edit.part, Part::edit);
    EXPECT_EQ(edit.number, kTurns / 2 + 1);
    const std::string before(long_talk()[kTurns / 2]), after = edited(kTurns / 2);
    const size_t same = static_cast<size_t>(
        std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first -
        before.begin());
    const uint32_t n_after = static_cast<uint32_t>(after.size() - same);
    EXPECT_EQ(edit.n_computed(), n_after + std::string_view("</><assistant>").size());
    EXPECT_EQ(edit.n_reused, edit.n_known);
}

TEST(Multiturn, a_reset_finds_the_system_prompt_and_the_way_back_finds_everything) {
    auto engine = engine_over(hash_model());
    const auto result = measured(*engine);
    const Turn& reset = result.turns[kTurns + 1];
    ASSERT_EQ(reset.part, Part::reset);
    const size_t n_system = std::string_view("<system></><user>").size() + system_prompt().size();
    EXPECT_GE(reset.n_reused, n_system);
    EXPECT_LT(reset.n_reused, n_system + 3) << "the first words of both talks differ";
    const Turn& back = result.turns.back();
    ASSERT_EQ(back.part, Part::back);
    EXPECT_EQ(back.n_reused, result.turns[kTurns - 1].n_prompt + kAnswer - 1);
}

TEST(Multiturn, fails_loudly_where_answers_with_reuse_and_without_differ) {
    auto engine = engine_over(std::make_unique<MoodyModel>());
    MultiturnOptions options;
    options.n_turns = 2;
    options.n_answer = 2;
    const auto result = run_multiturn(*engine, options);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::failed);
    EXPECT_NE(result.error().message.find("grow turn 1"), std::string::npos)
        << result.error().message;
}

TEST(Multiturn, one_way_alone_measures_that_way_alone) {
    auto engine = engine_over(hash_model());
    MultiturnOptions options;
    options.reuse_on = false;
    const auto result = measured(*engine, options);
    EXPECT_TRUE(result.turns[1].on.first_ms.empty());
    EXPECT_TRUE(result.turns[1].at_depth_ms.empty());
    EXPECT_EQ(result.turns[1].off.first_ms.size(), 2u);
    EXPECT_GT(result.turns[1].kv_bytes, 0u);
    EXPECT_EQ(multiturn_report(result, {}).csv.rows.size(), result.turns.size());
}

TEST(Multiturn, works_with_raw_text_where_there_is_no_chat_template) {
    auto engine = engine_over(hash_model(), "");
    const auto result = measured(*engine);
    EXPECT_TRUE(result.raw);
    EXPECT_EQ(result.turns[1].n_reused, result.turns[0].n_prompt + kAnswer - 1);
}

TEST(MultiturnReport, has_a_row_for_every_turn_and_way_and_names_what_was_found) {
    auto engine = engine_over(hash_model());
    const auto result = measured(*engine);
    const Report report = multiturn_report(result, {});
    EXPECT_EQ(report.csv.rows.size(), 2 * result.turns.size());
    for (const auto& row : report.csv.rows) EXPECT_EQ(row.size(), report.csv.columns.size());
    EXPECT_EQ(multiturn_table(result).rows.size(), result.turns.size());
    EXPECT_EQ(report.sections[0].charts.size(), 4u);
    for (const Chart& chart : report.sections[0].charts) EXPECT_FALSE(chart.caption.empty());
}

TEST(PromptWriter, a_longer_conversation_begins_with_the_ids_of_the_shorter_and_its_answer) {
    for (const std::string_view chat_template : {kTemplate, std::string_view()}) {
        auto engine = engine_over(hash_model(), chat_template);
        const auto writer = PromptWriter::open(*engine, "Be kind.");
        ASSERT_TRUE(writer);
        std::vector<Exchange> conversation = {{"Hello?"}};
        auto expected = *writer->ids(conversation);
        // No tokenizer would give these ids for their text.
        conversation.back().answer = {3, 99, 4};
        expected.insert(expected.end(), {3, 99, 4});
        conversation.push_back({"And now?"});
        const auto longer = *writer->ids(conversation);
        ASSERT_GT(longer.size(), expected.size());
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), longer.begin()));
    }
}

TEST(PromptWriter, a_template_that_refuses_the_system_role_gets_its_words_first) {
    auto engine = engine_over(hash_model(),
                              "{% for m in messages %}{% if m.role == 'system' %}"
                              "{{ raise_exception('no system') }}{% endif %}"
                              "<{{ m.role }}>{{ m.content }}</>{% endfor %}");
    const auto writer = PromptWriter::open(*engine, "Be kind.");
    ASSERT_TRUE(writer) << writer.error().message;
    const std::vector<Exchange> conversation = {{"Hello?"}};
    const auto ids = writer->ids(conversation);
    ASSERT_TRUE(ids);
    EXPECT_EQ(engine->tokenizer()->decode(*ids), "<user>Be kind.Hello?</>");
}

TEST(PromptWriter, a_template_that_hides_answers_is_named) {
    auto engine = engine_over(hash_model(),
                              "{% for m in messages %}{% if m.role != 'assistant' %}"
                              "<{{ m.role }}>{{ m.content }}</>{% endif %}{% endfor %}");
    const auto writer = PromptWriter::open(*engine, "Be kind.");
    ASSERT_TRUE(writer);
    const std::vector<Exchange> conversation = {{"Hello?", {1}}, {"And now?"}};
    const auto ids = writer->ids(conversation);
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.error().kind, ErrorKind::unsupported);
}

TEST(Script, messages_of_the_long_talk_are_of_one_size_and_an_edit_changes_the_end) {
    for (size_t i = 0; i < long_talk().size(); ++i) {
        EXPECT_GT(long_talk()[i].size(), 800u) << i;
        EXPECT_LT(long_talk()[i].size(), 1250u) << i;
        const std::string after = edited(i);
        const auto end =
            std::mismatch(long_talk()[i].begin(), long_talk()[i].end(), after.begin(), after.end());
        EXPECT_GT(end.first - long_talk()[i].begin(), 500) << i;
        EXPECT_NE(end.second, after.end()) << i;
    }
}

}  // namespace
}  // namespace kvik::lab
