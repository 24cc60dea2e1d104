#include "cli/several.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.h"

namespace kvik::cli {
namespace {

struct Blocks {
    uint32_t n_shared = 0, n_copied = 0;
};

// The sample that ended last has seen them all.
Blocks blocks_of(std::span<const Reply> replies) {
    Blocks blocks;
    for (const Reply& reply : replies) {
        blocks.n_shared = std::max(blocks.n_shared, reply.summary.n_kv_blocks_shared);
        blocks.n_copied = std::max(blocks.n_copied, reply.summary.n_kv_blocks_copied);
    }
    return blocks;
}

Json describe_sample(const Reply& reply, uint64_t seed) {
    return {{"seed", seed},
            {"ids", reply.ids},
            {"text", reply.text},
            {"logprobs", reply.logprobs},
            {"finish_reason", finish_reason_name(reply.summary.reason)},
            {"logits_sha256", reply.summary.logits_sha256}};
}

Json describe_beam(const Beam& beam) {
    return {{"score", beam.score},
            {"sum_logprob", beam.sum_logprob},
            {"ids", beam.ids},
            {"text", beam.text},
            {"logprobs", beam.logprobs},
            {"finish_reason", finish_reason_name(beam.reason)},
            {"logits_sha256", beam.logits_sha256}};
}

}  // namespace

Result<void> check_several(const SeveralOptions& several) {
    if (several.n_samples && several.n_beams)
        return fail(ErrorKind::usage, "give --samples or --beams, not both");
    if (several.length_penalty && !several.n_beams)
        return fail(ErrorKind::usage, "--length-penalty needs --beams");
    return {};
}

Result<std::vector<Stream>> submit(Engine& engine, GenerateRequest request,
                                   const SeveralOptions& several) {
    if (several.n_samples) return engine.submit_samples(std::move(request), *several.n_samples);
    if (several.n_beams) {
        request.beams = {.n_beams = *several.n_beams,
                         .length_penalty = several.length_penalty.value_or(1)};
    }
    KVIK_TRY(Stream stream, engine.submit(std::move(request)));
    std::vector<Stream> streams;
    streams.push_back(std::move(stream));
    return streams;
}

std::string header_of(uint32_t index, uint32_t n, uint64_t seed) {
    return fmt::format("--- answer {} of {}, seed {} ---\n", index + 1, n, seed);
}

std::string held_blocks(const SeveralOptions& several, std::span<const Reply> replies,
                        const Engine& engine) {
    const Blocks blocks = blocks_of(replies);
    const uint32_t n = several.n_sequences();
    const double mib = static_cast<double>(blocks.n_shared * engine.cache_stats().block_bytes);
    const std::string held = fmt::format("kvik: {} {} held {} of KV ({:.1f} MiB)", n,
                                         several.n_beams ? "beams" : "answers",
                                         counted(blocks.n_shared, "block"), mib / (1 << 20));
    if (blocks.n_copied <= blocks.n_shared) return held + "\n";  // too short to share a block
    return held + fmt::format(", {} copies would have held {}\n", n, blocks.n_copied);
}

void describe_several(const SeveralOptions& several, std::span<const Reply> replies, uint64_t seed,
                      Json& out) {
    if (several.n_samples) {
        out["samples"] = Json::array();
        for (const Reply& reply : replies) out["samples"].push_back(describe_sample(reply, seed++));
    }
    if (several.n_beams) {
        out["beams"] = Json::array();
        for (const Beam& beam : replies[0].summary.beams)
            out["beams"].push_back(describe_beam(beam));
    }
    const Blocks blocks = blocks_of(replies);
    out["kv"]["blocks_shared"] = blocks.n_shared;
    out["kv"]["blocks_copied"] = blocks.n_copied;
}

}  // namespace kvik::cli
