// Reply: a request carried to its end, its text shown as it comes, Ctrl-C watched. While a long
// prompt is read, a terminal shows how far that has come (prompt_note.h).
//
// Errors  of the engine, or of showing; either cancels the request.
// Invariant the pieces given to `show`, one after the other, are the answer's text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/interrupts.h"
#include "cli/report.h"
#include "kvik/kvik.h"

namespace kvik::cli {

struct Reply {
    std::vector<TokenId> ids;
    std::vector<float> logprobs;  // zeros unless asked for
    std::string text;
    Summary summary;  // reason `cancelled`: Ctrl-C ended it
};

using ShowText = std::function<Result<void>(std::string_view)>;

// What else a caller wants to do on the way.
struct Hooks {
    std::function<void()> leaving = {};  // before a second Ctrl-C ends the program
};

// A first Ctrl-C ends the answer within one step; a second one ends the program.
Result<Reply> collect(Stream& stream, Interrupts& interrupts, const ShowText& show,
                      const Hooks& hooks = {});

// "prompt 812 tok (780 cached) 41 ms - 96 tok 138 tok/s - ctx 908/8192", or as much of it as fits.
std::string status_line(const Timings& timings, uint32_t context, uint32_t n_columns = 80);

// What --verbose shows: a line for loading, the prompt and the answer.
std::vector<std::string> timing_lines(double load_ms, const Timings& timings);

// An engine whose loading shows on a terminal. Ctrl-C while it loads ends the program: it is
// reported in `format`.
Result<std::unique_ptr<Engine>> open_engine(EngineOptions options, Interrupts& interrupts,
                                            ErrorFormat format);

}  // namespace kvik::cli
