#include "engine/request/stream_channel.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/ledger/token_ledger.h"
#include "support/toy_tokenizer.h"

namespace kvik {
namespace {

constexpr std::chrono::milliseconds kNow{0};

TokenEvent event(TokenId id, std::string text = "") {
    return {.id = id, .text = std::move(text), .logprob = 0};
}

TEST(StreamChannel, gives_events_in_order_then_the_end_for_ever) {
    StreamChannel channel;
    for (TokenId id = 0; id < 3; ++id) channel.deliver(event(id));
    Summary summary;
    summary.reason = FinishReason::stop;
    channel.end(summary, "tail");
    for (TokenId id = 0; id < 3; ++id) EXPECT_EQ((**channel.next(kNow)).id, id);
    for (int i = 0; i < 2; ++i) EXPECT_FALSE(channel.next(kNow)->has_value());
    EXPECT_EQ(channel.summary().reason, FinishReason::stop);
    EXPECT_EQ(channel.tail(), "tail");
}

TEST(StreamChannel, gives_what_came_before_an_error_first) {
    StreamChannel channel;
    channel.deliver(event(1));
    channel.end_with({ErrorKind::failed, "layer 3"});
    EXPECT_TRUE(channel.next(kNow).has_value());
    const auto end = channel.next(kNow);
    ASSERT_FALSE(end.has_value());
    EXPECT_EQ(end.error().message, "layer 3");
    EXPECT_FALSE(channel.timed_out());
}

TEST(StreamChannel, tells_a_timeout_from_an_error) {
    StreamChannel channel;
    EXPECT_FALSE(channel.next(kNow).has_value());
    EXPECT_TRUE(channel.timed_out());
    channel.deliver(event(1));
    EXPECT_TRUE(channel.next(kNow).has_value());
    EXPECT_FALSE(channel.timed_out());
}

TEST(StreamChannel, wakes_a_reader_who_waits) {
    StreamChannel channel;
    std::thread reader([&] {
        EXPECT_EQ((**channel.next(std::chrono::hours(1))).id, 4);
        EXPECT_FALSE(channel.next(std::chrono::hours(1))->has_value());
    });
    channel.deliver(event(4));
    channel.end({}, "");
    reader.join();
}

TEST(StreamChannel, keeps_a_transcript_of_what_was_said_read_or_not) {
    const ToyTokenizer tokenizer({"", "a", "b"});
    TokenLedger ledger(tokenizer, 1000);
    StreamChannel channel;
    channel.keep_transcript(ledger, nullptr);
    channel.deliver(event(1, "a"));
    channel.deliver(event(2, ""));
    channel.end({}, "b");
    const auto transcript = channel.transcript();
    ASSERT_TRUE(transcript.has_value());
    EXPECT_EQ(transcript->ids, (std::vector<TokenId>{1, 2}));
    EXPECT_EQ(transcript->text, "ab");
    EXPECT_EQ(ids_of(*transcript->point), transcript->ids);
}

TEST(StreamChannel, has_no_transcript_of_what_ended_with_an_error) {
    const ToyTokenizer tokenizer({"", "a"});
    TokenLedger ledger(tokenizer, 1000);
    StreamChannel channel;
    channel.keep_transcript(ledger, nullptr);
    channel.deliver(event(1, "a"));
    channel.end_with({});
    EXPECT_FALSE(channel.transcript().has_value());
}

}  // namespace
}  // namespace kvik
