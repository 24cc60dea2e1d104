#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>

#include "base/digest.h"
#include "cli/flags/text_flags.h"
#include "cli/ids.h"
#include "cli/json.h"
#include "cli/npy.h"
#include "cli/prompt.h"
#include "cli/reply.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "sample/logprob.h"

namespace kvik::cli {
namespace {

Result<void> check_dump(const ScoreOptions& options) {
    std::error_code error;
    if (options.dump &&
        std::filesystem::equivalent(*options.dump, options.engine.model_path, error))
        return fail(ErrorKind::usage, fmt::format("--dump-logits {} would overwrite the model: "
                                                  "name another file",
                                                  *options.dump));
    return {};
}

// What the rows of logits leave behind. One engine thread feeds it, then its maker reads it.
class RowScorer {
  public:
    RowScorer(std::span<const TokenId> ids, std::optional<NpyWriter> dump)
        : ids_(ids), dump_(std::move(dump)) {}

    void add(uint32_t position, std::span<const float> row) {
        digest_.update(std::as_bytes(row));
        if (position + 1 < ids_.size()) {
            logprobs_.push_back(static_cast<float>(log_softmax_at(row, ids_[position + 1])));
            if (!std::isfinite(logprobs_.back()) && !not_finite_) not_finite_ = position;
        }
        if (dump_ && dumped_) dumped_ = dump_->append(row);
    }
    Result<void> finish() {
        KVIK_TRY_VOID(dumped_);
        if (not_finite_)
            return fail(ErrorKind::failed,
                        fmt::format("the logits at position {} are NaN or infinite: the weights "
                                    "are damaged, see kvik show --check",
                                    *not_finite_));
        return dump_ ? dump_->finish() : Result<void>();
    }
    const std::vector<float>& logprobs() const { return logprobs_; }
    double perplexity() const {
        double sum = 0;
        for (const float logprob : logprobs_) sum += logprob;
        return std::exp(-sum / static_cast<double>(logprobs_.size()));
    }
    std::string sha256() const { return digest_.hex(); }

  private:
    std::span<const TokenId> ids_;
    std::optional<NpyWriter> dump_;
    Result<void> dumped_;
    Sha256 digest_;
    std::vector<float> logprobs_;
    std::optional<uint32_t> not_finite_;  // the first position without a number
};

Result<void> show_scores(const ScoreOptions& options, const std::vector<TokenId>& ids,
                         const RowScorer& scorer, const Engine& engine) {
    if (options.json)
        return put(to_line({{"ids", ids},
                            {"logprobs", scorer.logprobs()},
                            {"perplexity", scorer.perplexity()},
                            {"logits_sha256", scorer.sha256()},
                            {"notes", engine.used().notes}}));
    const Tokenizer* tokenizer = engine.tokenizer();
    std::string text;
    for (size_t i = 1; i < ids.size(); ++i) {
        const std::string piece =
            tokenizer != nullptr ? to_line(tokenizer->decode(std::span(&ids[i], 1))) : "\n";
        text += fmt::format("{:10.5f} {:8} {}", scorer.logprobs()[i - 1], ids[i], piece);
    }
    text += fmt::format("perplexity {:.5f} over {}\n", scorer.perplexity(),
                        counted(ids.size() - 1, "token"));
    return put(text);
}

}  // namespace

Result<int> score(const Call& call) {
    ScoreOptions options;
    const Flags flags = score_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    if (int{options.ids.has_value()} + int{options.file.has_value()} +
            int{options.text.has_value()} !=
        1)
        return fail(ErrorKind::usage, "give one of -f FILE, -p TEXT, --text and --ids");
    KVIK_TRY_VOID(check_dump(options));

    Interrupts interrupts;
    std::vector<TokenId> ids;
    std::string text;
    if (options.ids) {
        ids = *options.ids;
    } else if (options.text) {
        text = *options.text;
    } else {
        KVIK_TRY(text, read_file(*options.file, &interrupts));
    }
    KVIK_TRY(const auto engine, open_engine(options.engine, interrupts,
                                            options.json ? ErrorFormat::json : ErrorFormat::text));
    if (!options.ids) {
        KVIK_TRY(ids, encode_raw(*engine, text, Specials::as_text));
    }
    if (ids.size() < 2)
        return fail(ErrorKind::usage,
                    fmt::format("a text of {} has nothing to predict: give 2 at least",
                                counted(ids.size(), "token")));

    std::optional<NpyWriter> dump;
    if (options.dump) {
        KVIK_TRY(NpyWriter writer,
                 NpyWriter::create(*options.dump, ids.size(), engine->model().vocab_size));
        dump.emplace(std::move(writer));
    }
    RowScorer scorer(ids, std::move(dump));
    GenerateRequest request;
    request.prompt = ids;
    request.sampling.temperature = 0;
    request.max_new_tokens = 0;
    request.cache = CachePolicy::off;
    request.on_prompt_logits = [&scorer](uint32_t position, std::span<const float> row) {
        scorer.add(position, row);
    };
    KVIK_TRY(Stream stream, engine->submit(std::move(request)));
    KVIK_TRY(const Reply done,
             collect(stream, interrupts, [](std::string_view) { return Result<void>(); }));
    if (done.summary.reason == FinishReason::cancelled)
        return fail(ErrorKind::cancelled, "interrupted");
    KVIK_TRY_VOID(scorer.finish());
    KVIK_TRY_VOID(show_scores(options, ids, scorer, *engine));
    return 0;
}

}  // namespace kvik::cli
