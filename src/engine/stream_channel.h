// StreamChannel: the events of one request on their way from the engine thread to their reader.
//
// Threads deliver, note_progress and the ends are the engine thread's; the rest may be called from any
//         thread, next by one reader at a time.
// Cost    a delivery is a lock and a push; the queue grows with what the reader has not fetched, at
//         most the tokens of the answer, and may allocate.
// Invariant nothing is delivered after the end; an end is never lost.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kvik/kvik.h"

namespace kvik {

class TokenLedger;

// All that was delivered: the ids as they were picked and their text.
struct Transcript {
    std::vector<TokenId> ids;
    std::string text;
    std::shared_ptr<const LedgerPoint> point;  // where the ledger has them, after the end
};

class StreamChannel {
  public:
    StreamChannel();
    // Before the request is submitted: what is said goes into the ledger, after its prompt.
    void keep_transcript(TokenLedger& ledger, std::shared_ptr<const LedgerPoint> prompt);

    void deliver(TokenEvent event);
    void end(Summary summary, std::string tail);
    void end_with(Error error);

    // Any thread may ask while it changes: three numbers, each right by itself.
    void note_progress(const PromptProgress& progress);
    PromptProgress progress() const;

    void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

    Result<std::optional<TokenEvent>> next(std::chrono::milliseconds wait);
    bool timed_out() const { return timed_out_; }
    const Summary& summary() const { return summary_; }
    const std::string& tail() const { return tail_; }
    // Waits for the end. Nothing: the request ended with an error.
    std::optional<Transcript> transcript();

  private:
    std::atomic<bool> cancelled_ = false;
    std::atomic<uint32_t> n_prompt_ = 0, n_cached_ = 0, n_done_ = 0;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::vector<TokenEvent> events_;  // [n_read_, size) are waiting
    size_t n_read_ = 0;
    std::optional<Transcript> transcript_;
    TokenLedger* ledger_ = nullptr;
    bool ended_ = false;
    std::optional<Error> error_;
    Summary summary_;
    std::string tail_;
    bool timed_out_ = false;  // the reader's
};

struct Stream::State : StreamChannel {};

}  // namespace kvik
