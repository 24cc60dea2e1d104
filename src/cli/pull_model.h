// pull_model: a model fetched from Hugging Face, its progress shown on a terminal.
//
// Use     `kvik pull`, and -hf of a model that is not here. Nothing else in the program asks a
//         network.
// Errors  as hub/pull.h. Where it is to stay offline: ErrorKind::usage, naming who said so.
//         Cancelled: Ctrl-C; the same command goes on where it stopped.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "base/result.h"
#include "cli/interrupts.h"
#include "cli/settings.h"
#include "hub/pull.h"

namespace kvik::cli {

struct PullWish {
    std::string name;      // hf:OWNER/REPO[@REV][:QUANT|/FILE]
    std::string revision;  // instead of @REV; empty: none
    bool offline = false;
    uint32_t silence_s = 30;  // without a byte, after which a connection counts as lost
};

Result<hub::PulledModel> pull_model(const PullWish& wish, const Environment& environment,
                                    Interrupts& interrupts);

// Who forbids to ask a network: --offline, or a variable of Hugging Face's; empty: nobody.
std::string offline_by(bool has_flag, const Environment& environment);

// What the speed of the last seconds says of the rest.
class FetchRate {
  public:
    void add(double now_s, uint64_t fetched_bytes);
    double bytes_per_s() const;  // 0: not known yet

  private:
    std::deque<std::pair<double, uint64_t>> samples_;
};

// "m.gguf  45 %  1.20 of 2.67 GB  31.2 MB/s  47 s left", or as much of it as fits.
std::string progress_text(const hub::PullProgress& progress, double bytes_per_s,
                          uint32_t n_columns = UINT32_MAX);

}  // namespace kvik::cli
