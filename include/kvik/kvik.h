// kvik: the public face of the engine. The command line and the server use nothing else.
//
// Use     Engine::open a model, then Session (a conversation) or Engine::submit (one request);
//         read TokenEvents from the Stream until `done`.
// Threads Engine and Session may be used from any thread; a Stream by one reader at a time. One
//         engine thread inside steps all requests together.
// Owner   an Engine outlives its Streams and Sessions.
// Errors  Result everywhere; ErrorKind is the exit code of docs/contracts.md.
// Invariant same model, tokens, sampling and seed -> same bits, whatever is cached, batched or
//         chunked, on any number of threads and any instruction set.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "cache/eviction.h"
#include "cache/kv_spec.h"
#include "cache/prefix/prefix_reports.h"
#include "kvik/kv_report.h"
#include "model/model.h"
#include "sample/params.h"
#include "sched/step_costs.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace kvik {

enum class CachePolicy : uint8_t { reuse, off };  // off: neither finds nor publishes prefixes

// Where the engine learns what a step costs (sched/step_costs.h), by which it cuts long prompts
// beside streams. on: from costs_folder, else by measuring when it has had nothing to do for a
// while; fresh: by measuring while it opens; off: nowhere. Bits do not depend on it.
enum class Calibrate : uint8_t { off, on, fresh };

// As EngineOptions::context: as many tokens as the model was made for.
inline constexpr uint32_t kModelContext = UINT32_MAX;

struct EngineOptions {
    std::string model_path;
    uint32_t context = 0;    // tokens a sequence may have; 0: min(model, 8192); or kModelContext
    uint32_t n_threads = 0;  // 0: the cores of the cgroup quota
    uint32_t ubatch = 512;   // most prompt rows in one step
    uint32_t block_tokens = 32;         // 16, 32 or 64
    uint32_t max_sequences = 16;        // sequences that run at once; more wait
    uint64_t cache_bytes = 1ull << 30;  // budget of all KV
    KvType kv_type = KvType::f16;
    CachePolicy cache = CachePolicy::reuse;
    EvictionPolicy evict = EvictionPolicy::cost;  // which cached KV goes first where room is short
    // Where KV sleeps when there is no room for it and between runs, made if need be; empty: nowhere.
    // Several engines may share a folder. What is lost there is computed again.
    std::string cache_folder;
    uint64_t disk_bytes = 8ull << 30;  // most bytes in the folder
    // For text and ids of prompts and answers, by which a conversation that comes back as text finds
    // the ids that were picked (src/engine/ledger). Not used where the cache is off.
    uint64_t ledger_bytes = 16ull << 20;
    std::optional<std::string> isa;  // as KVIK_ISA; unset: the best that the CPU has
    std::optional<std::string> act;  // as KVIK_ACT: "int8" or "f32"; unset: int8
    // The chat template: a name among the model's or kvik's own, or a file. Empty: the model's
    // default, or the one of kvik's that fits a model without any.
    std::string chat_template;
    Calibrate calibrate = Calibrate::on;
    std::string costs_folder;  // keeps what was measured for the next time; empty: not kept
    // The caller's wall clock, for chat templates that write the date; without it these fail. One
    // time for all prompts: a later one would take the prefix out of the cache.
    std::optional<std::chrono::local_seconds> now;
    // Called on the opening thread while weights load; done / total in bytes.
    std::function<void(uint64_t done, uint64_t total)> progress;
};

enum class EndTokens : uint8_t { stop, ignore };  // ignore: they are sampled like any other

// Beam search: the answer is the hypothesis with the best score that n_beams of them, going on side
// by side, have found (engine/generate/beam_search.h says how). Nothing is drawn: of `sampling` nothing is
// used. The stream delivers the best one at the end, Summary::beams has them all.
struct BeamParams {
    uint32_t n_beams = 4;         // at most EngineOptions::max_sequences
    double length_penalty = 1.0;  // score = sum of log-probabilities / tokens ^ length_penalty
};

struct GenerateRequest {
    std::vector<TokenId> prompt;  // the full prefix, always
    SamplingParams sampling;
    std::optional<BeamParams> beams;       // penalties and logit_bias do not go with it: usage
    uint32_t max_new_tokens = UINT32_MAX;  // UINT32_MAX: until the end token or the context
    EndTokens end_tokens = EndTokens::stop;
    std::vector<std::string> stop;  // at most 16 stop strings, none empty
    CachePolicy cache = CachePolicy::reuse;
    // Requests with different salts share no KV, so that nobody learns from its own waiting time
    // what others have asked. Empty: what all without one share.
    std::string cache_salt;
    bool want_logprobs = false;     // TokenEvent::logprob of the raw distribution
    bool want_logits_hash = false;  // Summary::logits_sha256
    // Summary::prompt_logprobs. Those of a prompt that somebody asked for before are kept; what is
    // missing is computed from there on.
    bool want_prompt_logprobs = false;
    bool want_kv_report = false;  // Summary::kv_report
    double pin_ms = 0;  // the prompt's KV stays for so long, if the pins' share of the cache allows
    // Sees every row of logits of the prompt in order, on the engine thread: [vocab_size] f32.
    // The prompt is computed from its start (a cached prefix has no logits rows).
    std::function<void(uint32_t position, std::span<const float> logits)> on_prompt_logits;
};

enum class FinishReason : uint8_t { stop, length, cancelled };
std::string_view finish_reason_name(FinishReason reason);

struct Timings {
    uint32_t n_prompt_tokens = 0;     // prompt tokens, cached ones included
    uint32_t n_cached_tokens = 0;     // of these, found in the cache
    uint32_t n_disk_tokens = 0;       // of those, read from disk
    uint32_t n_generated_tokens = 0;  // tokens generated
    double queue_ms = 0;
    double prompt_ms = 0;  // from the start of the request's first step to its first token
    double decode_ms = 0;  // from the first token to the last
};

// A hypothesis of a beam search.
struct Beam {
    std::vector<TokenId> ids;     // without an end token
    std::vector<float> logprobs;  // of ids, of the raw distribution
    std::string text;
    double score = 0;
    double sum_logprob = 0;  // the end token's is in it
    FinishReason reason = FinishReason::length;
    std::string logits_sha256;  // as Summary's, of its own rows
};

struct Summary {
    FinishReason reason = FinishReason::length;
    Timings timings;
    uint64_t seed = 0;                  // the request's, or the one that the engine drew
    std::string logits_sha256;          // hex; empty unless asked for
    uint32_t n_kv_blocks = 0;           // blocks the sequence held at its end
    std::optional<KvReport> kv_report;  // if asked for
    // Of each token of the prompt, of the raw distribution after those before it (the first follows
    // nothing: 0). Empty unless asked for; shorter than the prompt if the request was cancelled.
    std::vector<float> prompt_logprobs;
    std::vector<Beam> beams;  // best first; empty without beam search
    // Of all beams, or of all samples that were asked for together: the most different blocks that
    // they have held at a time, and the most they would have held had each its own. 0: neither.
    uint32_t n_kv_blocks_shared = 0, n_kv_blocks_copied = 0;
};

struct TokenEvent {
    TokenId id = 0;
    std::string text;  // what became certain with this token; may be empty
    float logprob = 0;
};

// How far the engine has come with the prompt of a request.
struct PromptProgress {
    uint32_t n_tokens = 0;  // of the prompt
    uint32_t n_cached = 0;  // of these, found in the cache
    uint32_t n_done = 0;    // of these, found or computed so far
};

// The events of one request. Dropping it cancels the request.
class Stream {
  public:
    ~Stream();
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;

    // Next token, nothing at the end, or the error that ended the request. Blocks at most `wait`;
    // a timeout is ErrorKind::failed with Stream::timed_out() true.
    Result<std::optional<TokenEvent>> next(std::chrono::milliseconds wait = std::chrono::hours(24));
    bool timed_out() const;
    PromptProgress progress() const;  // at any time; zeros until the request is taken up
    void cancel();                    // takes effect within one step; what was sent stays
    const Summary& summary() const;   // valid after the end
    // Text after the last token: flushed bytes, text held back for a stop string that did not come.
    const std::string& tail() const;  // valid after the end

  private:
    friend class Engine;
    friend class Session;
    struct State;
    explicit Stream(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
};

struct CacheStats {
    uint32_t n_blocks = 0, n_free_blocks = 0;
    uint64_t block_bytes = 0;
    uint64_t n_cached_tokens = 0;  // tokens reachable by prefix
    uint64_t n_hit_tokens = 0, n_computed_tokens = 0, n_evicted_blocks = 0;
    uint64_t n_disk_tokens = 0;  // of n_hit_tokens, read from disk
    double saved_ms = 0;         // what computing n_hit_tokens would have taken; 0: not known
    // Blocks let go of by other reasons, some of n_evicted_blocks among the first.
    uint64_t n_evicted_window_blocks = 0;  // of a window, needed by no resume point
    uint64_t n_forgotten_blocks = 0;       // a client said so
    uint64_t n_preemptions = 0;            // sequences that gave all of theirs up
    uint32_t n_offloaded = 0;              // nodes known without KV in RAM
    uint32_t n_pinned_blocks = 0;
    uint64_t disk_bytes = 0;  // in the folder, other engines' too
};

// The prefix tree as it is now.
struct KvTree {
    std::vector<TreeLine> lines;  // depth first
    TreeAccounts accounts;
    uint32_t block_tokens = 0;
};

struct UsedSettings {
    std::string isa, act, kv;
    uint32_t ubatch = 0, n_threads = 0, context = 0;
    std::string builtin_template;    // the name of kvik's own, if it is one of these
    std::string template_source;     // "model", "builtin", "file", or "none"
    std::string template_name;       // "default", "tool_use", "chatml", ..., or the file
    std::vector<std::string> notes;  // what the user should know of the model's files
};

// The words of a model; each may be missing.
struct ModelText {
    std::unique_ptr<Tokenizer> tokenizer;
    std::unique_ptr<ChatTemplate> chat_template;
};

struct SequenceGroup;

class Engine {
  public:
    static Result<std::unique_ptr<Engine>> open(EngineOptions options);
    // For tests and experiments: any Model, with or without text.
    static Result<std::unique_ptr<Engine>> over(std::unique_ptr<Model> model,
                                                EngineOptions options);
    static Result<std::unique_ptr<Engine>> over(std::unique_ptr<Model> model, ModelText text,
                                                EngineOptions options);
    ~Engine();

    const ModelSpec& model() const;
    const Tokenizer* tokenizer() const;         // null: the model has none, or not one to be had:
    Error no_tokenizer() const;                 // then this says why, and what works without
    const ChatTemplate* chat_template() const;  // null: the model has none
    const UsedSettings& used() const;
    double load_ms() const;
    CacheStats cache_stats() const;
    // Waits for the end of a step. Errors: too many requests wait -> failed.
    Result<KvTree> cache_tree(uint32_t most_lines = 1000) const;
    // Waits until what was published is on disk; nothing to wait for without a cache_folder. Errors:
    // what keeps KV from being written -> file.
    Result<void> finish_disk();
    std::optional<StepCosts> step_costs() const;  // nothing: not known, or not yet

    // Errors: empty prompt, id outside the vocabulary, bad sampling -> usage; longer than the
    // context -> context, naming both numbers; too many requests wait -> failed.
    Result<Stream> submit(GenerateRequest request);

    // n answers to one prompt, computed together: the prompt once, then side by side. The i-th is bit
    // for bit that of the request alone with seed + i. Errors: as submit, for all of them.
    Result<std::vector<Stream>> submit_samples(GenerateRequest request, uint32_t n_samples);

    // Ids of a rendered chat, BOS included where the tokenizer adds one and the text has none. As
    // far as it is the text of an earlier prompt and its answer, these are the ids of then.
    Result<std::vector<TokenId>> encode_chat(const std::vector<ChatMessage>& messages) const;

    // The KV of these tokens is of no more use from the first `from` of them on, as far as nothing
    // else needs it. Happens before whatever is submitted later. Errors: as submit.
    Result<void> forget(std::vector<TokenId> tokens, uint32_t from, ForgetKind kind,
                        std::string cache_salt = {});

  private:
    friend class Session;
    struct Impl;
    explicit Engine(std::unique_ptr<Impl> impl);
    Result<void> check(const GenerateRequest& request) const;
    Result<Stream> submit(GenerateRequest request, std::shared_ptr<Stream::State> state,
                          std::shared_ptr<SequenceGroup> group = nullptr);
    Result<MarkedText> render(const std::vector<ChatMessage>& messages) const;
    std::unique_ptr<Impl> impl_;
};

// What becomes of the KV of a conversation that does not go on from there: its system message or an
// earlier message is another, messages were left out, it is another conversation altogether.
enum class Invalidation : uint8_t {
    full,     // all of it is forgotten, and what is still wanted is computed again
    partial,  // what the next prompt begins with is used; the rest stays until it is evicted
    lazy,     // as partial, but the rest is the first to be evicted
};

enum class Overflow : uint8_t {
    error,            // a conversation longer than the context is refused
    truncate_oldest,  // its oldest exchanges are left out of the prompt, never its system message
};

struct SessionOptions {
    Invalidation invalidation = Invalidation::partial;
    Overflow overflow = Overflow::error;
};

struct SessionStats {
    uint32_t n_messages = 0;
    uint32_t n_left_out = 0;            // of these, not in the prompt any more (Overflow)
    uint32_t n_tokens = 0;              // of the conversation so far, as the engine has them
    uint32_t n_kept_tokens = 0;         // of the last prompt, those that were not tokenised anew
    uint32_t n_invalidations = 0;       // times that it did not go on from where it was
    uint64_t n_invalidated_tokens = 0;  // that it left behind then, forgot or not
};

struct LedgerPoint;  // a place in the token ledger (src/engine/ledger)

// A conversation: messages, and beside each the exact ids of the prompt or the answer as they were
// picked, so that a turn goes on from these and never tokenises an answer again: neither the next
// one nor one after going back, forking or answering anew.
//
// Threads one at a time.   Cost  copies of the messages; ids and their text are shared by forks.
// Invariant an answer that was cancelled is kept as far as it came; where there is none, or an
//         error, the conversation is what it was before the message.
class Session {
  public:
    explicit Session(Engine& engine, SessionOptions options = {})
        : engine_(&engine), options_(options) {}
    Session(Session&&) = default;
    Session& operator=(Session&&) = default;

    void set_options(SessionOptions options) { options_ = options; }  // from the next turn on
    // Takes effect with the next turn. Empty: no system message.
    void set_system(std::string text);

    // These cancel what is under way, keep it, and fill in `how.prompt`. Errors: as Engine::submit;
    // no tokenizer or chat template -> unsupported; nothing has changed then.
    Result<Stream> send(std::string text, GenerateRequest how = {});  // the user's next message
    // Another answer to the last message of the user. None there: usage.
    Result<Stream> regenerate(GenerateRequest how = {});
    // Goes on with the last answer from its last token, as if it had not been cut there: the same
    // seed picks the same tokens. Where its text alone is known (restore), from the ids of the text.
    // No answer there: usage.
    Result<Stream> resume(GenerateRequest how = {});
    // Message `index` of messages() with another text; what came after it goes. It is not one of
    // the user's: usage.
    Result<Stream> edit(size_t index, std::string text, GenerateRequest how = {});

    // These wait for the end of what is under way (read or cancel the stream first).
    void rewind(size_t n_messages);  // to the first n messages, the system's being one of them
    // Another topic: all messages but the system's go, and their KV as Invalidation says.
    Result<void> reset_topic();
    void restore(std::vector<ChatMessage> messages);  // another conversation, known by text alone
    Session fork();                                   // goes its own way from here on
    Session fork(size_t n_messages);                  // from its first n messages on
    // From its first n tokens on (SessionStats::n_tokens): an answer ends there, or is cut. Errors:
    // usage, where neither is so or a character would be cut.
    Result<Session> fork_at_token(uint32_t n_tokens);
    const std::vector<ChatMessage>& messages();
    SessionStats stats();

  private:
    using Point = std::shared_ptr<const LedgerPoint>;
    struct Timeline {
        std::vector<ChatMessage> messages;
        std::vector<Point> points;  // after each message; null: not known
        size_t n_left_out = 0;      // messages after the system's that prompts do not have
        void add(ChatMessage message, Point point);
        void cut(size_t n_messages);
        bool has_system() const;
        bool leave_out_oldest();
        std::vector<ChatMessage> prompt() const;
        Point last_point() const;
        bool knows_last_answer() const;
    };
    enum class Next : uint8_t { answer, rest_of_answer };
    struct Prompt {
        Point point;
        uint32_t n_kept_tokens = 0;
    };
    void interrupt();
    void collect_answer();
    Result<Stream> ask(Timeline next, GenerateRequest how);
    Result<Stream> submit(Timeline next, GenerateRequest how, Prompt prompt, Next wanted);
    Result<Prompt> encode(const Timeline& timeline);
    Result<Timeline> tokenise_last_answer();
    Result<Prompt> encode_what_fits(Timeline& timeline, const GenerateRequest& how);
    Result<void> invalidate(std::span<const TokenId> next);
    Result<void> give_up(std::vector<TokenId> held, uint32_t n_common);
    uint32_t count_system_tokens(std::span<const TokenId> ids);

    Engine* engine_;
    SessionOptions options_;
    Timeline now_;
    Timeline before_;   // while an answer is under way: what holds if none comes
    Point held_;        // how far the engine was led, whatever became of the messages since
    std::string salt_;  // where that is
    SessionStats counts_;
    Next wanted_ = Next::answer;
    std::shared_ptr<Stream::State> pending_;  // the last stream, until its answer is in now_
};

}  // namespace kvik
