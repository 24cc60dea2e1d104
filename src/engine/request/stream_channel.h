// StreamChannel: the events of one request on their way from the engine thread to their reader.
// Stream, its public face, has one as Stream::State.
//
// Use     the engine thread calls note_progress, deliver, and once end or end_with; the reader
//         calls next() until it returns nothing or an error, then summary() and tail().
// Owner   shared by the request and its Stream.
// Threads deliver, note_progress and the ends: the engine thread. keep_transcript: before the
// request
//         is submitted. The rest may be called from any thread, next by one reader at a time.
// Cost    a delivery is a lock and a push, which may allocate. The queue grows with what the reader
//         has not fetched, at most the tokens of the answer.
// Errors  next: the error that ended the request, or failed after a time-out (timed_out() is true).
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

// Everything that was delivered: the ids as they were picked, and their text.
struct Transcript {
    std::vector<TokenId> ids;
    std::string text;
    std::shared_ptr<const LedgerPoint> point;  // of the ledger, with these ids; set after the end
};

class StreamChannel {
  public:
    StreamChannel();
    // Keeps a transcript, and adds the answer to the ledger after `prompt` when the stream ends.
    void keep_transcript(TokenLedger& ledger, std::shared_ptr<const LedgerPoint> prompt);

    void deliver(TokenEvent event);
    void end(Summary summary, std::string tail);
    void end_with(Error error);

    // The three numbers change one after another: a reader may see some of them older than others.
    void note_progress(const PromptProgress& progress);
    PromptProgress progress() const;

    void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

    Result<std::optional<TokenEvent>> next(std::chrono::milliseconds wait);
    bool timed_out() const { return timed_out_; }
    const Summary& summary() const { return summary_; }
    const std::string& tail() const { return tail_; }
    // Waits for the end and returns the transcript; nothing if the request ended with an error.
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
