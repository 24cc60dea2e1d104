#include "cli/repl/conversation.h"

#include <gtest/gtest.h>

#include "testing/hash_model.h"

namespace kvik::cli {
namespace {

// A model without words: what is said and answered is put into the session by hand.
class ConversationTest : public ::testing::Test {
  protected:
    ConversationTest() : engine_(open()), talk_(Session(*engine_)) {}
    static std::unique_ptr<Engine> open() {
        EngineOptions options;
        options.cache_bytes = 4u << 20;
        return std::move(
            *Engine::over(std::make_unique<HashModel>(HashModelOptions{}), std::move(options)));
    }
    void put(std::vector<std::string> texts, const std::string& system = "") {
        std::vector<ChatMessage> messages;
        if (!system.empty()) messages.push_back({"system", system});
        for (size_t i = 0; i < texts.size(); ++i)
            messages.push_back({i % 2 == 0 ? "user" : "assistant", std::move(texts[i])});
        talk_.session().restore(std::move(messages));
    }
    std::string said() {
        std::string all;
        for (const ChatMessage& message : talk_.session().messages()) all += message.content + "|";
        return all;
    }
    void send(std::vector<std::string> texts) {
        put(std::move(texts));
        talk_.sent();
    }
    void regenerate(std::vector<std::string> texts) {
        talk_.before_another();
        put(std::move(texts));
        talk_.another();
    }
    using Texts = std::vector<std::string>;

    std::unique_ptr<Engine> engine_;
    Conversation talk_;
};

TEST_F(ConversationTest, all_answers_to_a_message_are_kept) {
    EXPECT_EQ(talk_.shown(), 0u);
    EXPECT_FALSE(talk_.show_answer(1));
    send({"q", "one"});
    EXPECT_EQ(talk_.answers(), Texts{"one"});
    EXPECT_EQ(talk_.shown(), 1u);
    EXPECT_TRUE(talk_.show_answer(1));
    regenerate({"q", "two"});
    regenerate({"q", "three"});
    EXPECT_EQ(talk_.answers(), (Texts{"one", "two", "three"}));
    EXPECT_EQ(talk_.shown(), 3u);
    ASSERT_TRUE(talk_.show_answer(1));
    EXPECT_EQ(said(), "q|one|");
    EXPECT_EQ(talk_.shown(), 1u);
    EXPECT_FALSE(talk_.show_answer(4));
    EXPECT_FALSE(talk_.show_answer(0));
    EXPECT_EQ(said(), "q|one|");
}

TEST_F(ConversationTest, answers_of_earlier_messages_are_there_when_one_goes_back) {
    send({"q", "one"});
    regenerate({"q", "two"});
    send({"q", "two", "r", "three"});
    EXPECT_EQ(talk_.answers(), Texts{"three"});
    ASSERT_TRUE(talk_.take_back());
    EXPECT_EQ(talk_.answers(), (Texts{"one", "two"}));
    ASSERT_TRUE(talk_.show_answer(1));
    EXPECT_EQ(said(), "q|one|");
}

TEST_F(ConversationTest, what_was_taken_back_comes_back_with_its_answers) {
    send({"q", "one"});
    send({"q", "one", "r", "two"});
    regenerate({"q", "one", "r", "three"});
    EXPECT_EQ(*talk_.take_back(), "r");
    EXPECT_EQ(*talk_.take_back(), "q");
    EXPECT_FALSE(talk_.take_back());
    EXPECT_EQ(said(), "");
    EXPECT_EQ(*talk_.bring_back(), "q");
    EXPECT_EQ(*talk_.bring_back(), "r");
    EXPECT_FALSE(talk_.bring_back());
    EXPECT_EQ(said(), "q|one|r|three|");
    EXPECT_EQ(talk_.answers(), (Texts{"two", "three"}));
}

TEST_F(ConversationTest, what_was_said_since_leaves_nothing_to_bring_back) {
    send({"q", "one"});
    ASSERT_TRUE(talk_.take_back());
    send({"r", "two"});
    EXPECT_FALSE(talk_.bring_back());
    regenerate({"r", "three"});
    send({"s", "four"});  // an edit of the same message
    EXPECT_EQ(talk_.answers(), Texts{"four"});
    talk_.replaced();
    EXPECT_FALSE(talk_.show_answer(2));
}

TEST_F(ConversationTest, an_answer_that_went_on_is_kept_as_long_as_it_is_now) {
    send({"q", "one"});
    regenerate({"q", "two"});
    put({"q", "two and more"});
    talk_.went_on();
    EXPECT_EQ(talk_.answers(), (Texts{"one", "two and more"}));
}

TEST_F(ConversationTest, the_system_message_of_now_holds_for_what_comes_back) {
    put({"q", "one"}, "old");
    talk_.sent();
    ASSERT_TRUE(talk_.take_back());
    talk_.session().set_system("new");
    ASSERT_TRUE(talk_.bring_back());
    EXPECT_EQ(said(), "new|q|one|");
    talk_.session().set_system("");
    ASSERT_TRUE(talk_.take_back());
    ASSERT_TRUE(talk_.bring_back());
    EXPECT_EQ(said(), "q|one|");
}

}  // namespace
}  // namespace kvik::cli
