#include <fmt/format.h>
#include <unistd.h>

#include "cli/flags/text_flags.h"
#include "cli/ids.h"
#include "cli/json.h"
#include "cli/line_reader.h"
#include "cli/terminal.h"
#include "cli/text_side.h"
#include "cli/verbs.h"

namespace kvik::cli {
namespace {

Result<void> check_together(const TokenizeOptions& options) {
    const auto refuse = [](const char* message) { return fail(ErrorKind::usage, message); };
    if (options.text && options.file) return refuse("give TEXT or --file, not both");
    if ((options.text || options.file) && options.jsonl)
        return refuse("--jsonl is for stdin: use --json with a text or a file");
    if (options.json && options.jsonl) return refuse("give --json or --jsonl, not both");
    if (options.decode && options.bos) return refuse("--bos has no place with --decode");
    if (options.decode && options.specials == Specials::recognised)
        return refuse("--special has no place with --decode");
    return {};
}

Result<std::string> to_ids(const TokenizeOptions& options, const Tokenizer& tokenizer,
                           const std::string& line) {
    std::string text = line;
    if (options.jsonl) {
        KVIK_TRY(const Json value, parse_json(line, "the line"));
        if (!value.is_string()) return fail(ErrorKind::usage, "the line is not a JSON string");
        text = value;
    }
    std::vector<TokenId> ids = tokenizer.encode(text, options.specials);
    if (options.bos) ids.insert(ids.begin(), *tokenizer.bos());
    if (options.json || options.jsonl) return to_line(ids);
    return fmt::format("{}\n", fmt::join(ids, " "));
}

Result<std::string> to_text(const TokenizeOptions& options, const Tokenizer& tokenizer,
                            const std::string& line) {
    std::vector<TokenId> ids;
    if (options.jsonl) {
        KVIK_TRY(ids, parse_json_ids(line, "the line"));
    } else {
        KVIK_TRY(ids, parse_id_words(line));
    }
    for (const TokenId id : ids)
        if (static_cast<uint32_t>(id) >= tokenizer.n_tokens())
            return fail(ErrorKind::usage, fmt::format("id {} is outside the vocabulary of {}", id,
                                                      tokenizer.n_tokens()));
    const std::string text = tokenizer.decode(ids);
    return options.json || options.jsonl ? to_line(text) : text + "\n";
}

}  // namespace

Result<int> tokenize(const Call& call) {
    TokenizeOptions options;
    const Flags flags = tokenize_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    KVIK_TRY_VOID(check_together(options));
    KVIK_TRY(const TextSide model, open_text_side(options.model));
    if (options.bos && !model.tokenizer->bos())
        return fail(ErrorKind::usage, "--bos: the model has no BOS token");

    const auto convert = options.decode ? to_text : to_ids;
    if (options.file) {
        KVIK_TRY(options.text, read_file(*options.file));
    }
    if (options.text) {
        KVIK_TRY(const std::string out, convert(options, *model.tokenizer, *options.text));
        KVIK_TRY_VOID(put(out));
        return 0;
    }
    LineReader reader(STDIN_FILENO, nullptr);
    std::string line;
    for (uint64_t n_lines = 1;; ++n_lines) {
        KVIK_TRY(const auto got, reader.next(line));
        if (got == LineReader::Got::end) return 0;
        const auto out = convert(options, *model.tokenizer, line);
        if (!out)
            return fail(out.error().kind, fmt::format("line {}: {}", n_lines, out.error().message));
        KVIK_TRY_VOID(put(*out));
    }
}

}  // namespace kvik::cli
