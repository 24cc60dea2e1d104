// The multi-turn experiment: what a chat-bot gains from a KV cache that finds its conversation again.
//
// Shape   a conversation of n_turns that grows; then an earlier message is edited and answered anew;
//         then the user changes the topic and the history is reset, for two turns; then the old
//         conversation goes on. Each turn is asked with reuse and without, by turns (on off, off
//         on, ...), and so is a yardstick: as many tokens at that depth. Each round starts cold.
// Errors  both ways must give the same ids and the same bits: failed, naming the turn, where not.
// Source  the experiment is the usual one of text-books on serving; the pairing of times within a
//         round is that of cli/bench_sweep.h.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvik/kvik.h"
#include "lab/asking.h"

namespace kvik::lab {

enum class Part : uint8_t { grow, edit, reset, back };
std::string_view part_name(Part part);

struct MultiturnOptions {
    uint32_t n_turns = 10;  // of the growing conversation
    uint32_t n_answer = 64;
    uint32_t n_rounds = 3;
    bool reuse_on = true, reuse_off = true;
    std::function<void(const std::string& what)> progress = nullptr;
};

struct WayTimes {
    std::vector<double> first_ms, total_ms;  // [n_rounds]
};

struct Turn {
    Part part = Part::grow;
    uint32_t number = 0;    // of the conversation that it belongs to, from 1
    uint32_t n_prompt = 0;  // tokens, the history included
    uint32_t n_known = 0;   // of these, the longest prefix that was ever computed with reuse
    uint32_t n_reused = 0;  // found in the cache
    uint32_t n_answer = 0;
    uint64_t kv_bytes = 0;  // that the sequence held at its end
    std::string logits_sha256;
    WayTimes on, off;
    std::vector<double> at_depth_ms;  // as many tokens at that depth

    uint32_t n_computed() const { return n_prompt - n_reused; }
};

struct MultiturnResult {
    std::vector<Turn> turns;
    bool raw = false;  // the model has no chat template
};

// The longest conversation that the script has.
uint32_t most_turns();

Result<MultiturnResult> run_multiturn(Engine& engine, const MultiturnOptions& options);

}  // namespace kvik::lab
