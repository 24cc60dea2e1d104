// Rig: a model file loaded, with KV storage and blocks in any order, stepped without an engine.
//
// Shape   ids of blocks: [n_sequences, n_groups, n_per_sequence].
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/thread_pool.h"
#include "kernels/select.h"
#include "model/load.h"
#include "testing/tiny_llama.h"

namespace kvik::testing {

// A file that lives as long as the object.
struct TemporaryFile {
    std::string path = ::testing::TempDir() + "kvik_model_" + std::to_string(::getpid()) + ".gguf";
    explicit TemporaryFile(const GgufWriter& writer) { EXPECT_TRUE(writer.write(path)); }
    ~TemporaryFile() { std::remove(path.c_str()); }
};

struct RigOptions {
    const KernelTable* kernels = runnable_kernels().back();
    Act act = Act::int8;
    uint32_t n_threads = 1;
    KvType kv = KvType::f16;
    uint32_t block_tokens = 32;
    uint64_t block_seed = 0;                           // 0: blocks in order
    std::shared_ptr<const KvGroups> groups = nullptr;  // null: one group of all layers
    StepProfile* profile = nullptr;
};

// One model with KV room for `n_sequences` of its context length.
class Rig {
  public:
    Rig(const std::string& path, RigOptions options, uint32_t n_sequences = 1)
        : pool_(options.n_threads) {
        auto loaded = load_model({path, options.kernels, options.act, &pool_, {}});
        if (!loaded) {
            ADD_FAILURE() << loaded.error().message;
            return;
        }
        model = std::move(loaded->model);
        KvSpec kv = model->spec().kv;
        kv.type = options.kv;
        kv.block_tokens = options.block_tokens;
        kv.groups = options.groups;
        n_per_sequence_ = model->spec().context_length / kv.block_tokens;
        blocks_.resize(uint64_t{n_per_sequence_} * kv.n_groups() * n_sequences);
        for (uint32_t i = 0; i < blocks_.size(); ++i) blocks_[i] = BlockId{i};
        if (options.block_seed != 0)
            std::shuffle(blocks_.begin(), blocks_.end(), std::mt19937_64(options.block_seed));
        storage_ = *Arena::reserve(blocks_.size() * kv.block_bytes(), "test KV");
        view_ = {storage_.data(), kv};
        scratch_ =
            *model->make_scratch({512, 512, model->spec().context_length, options.profile}, pool_);
    }

    std::span<BlockId> blocks(uint32_t sequence, uint32_t group = 0) {
        const uint64_t list = uint64_t{sequence} * view_.spec.n_groups() + group;
        return std::span(blocks_).subspan(list * n_per_sequence_, n_per_sequence_);
    }

    // What no row of the sequence from n_past on may read becomes NaN.
    void poison_behind_windows(uint32_t sequence, uint32_t n_past) {
        for (uint32_t g = 0; g < view_.spec.n_groups(); ++g) {
            const uint32_t first = first_needed(view_.spec.window(g), n_past);
            for (const BlockId id : blocks(sequence, g).first(first / view_.spec.block_tokens))
                std::memset(view_.base + static_cast<uint64_t>(id) * view_.spec.block_bytes(), 0xff,
                            view_.spec.block_bytes());
        }
    }

    // The first n_tokens of sequence `to` are from now on those of `from`: whole blocks.
    struct Shared {
        uint32_t from, to, n_tokens;
    };
    void share_prefix(const Shared& shared) {
        for (uint32_t g = 0; g < view_.spec.n_groups(); ++g)
            std::ranges::copy(
                blocks(shared.from, g).first(shared.n_tokens / view_.spec.block_tokens),
                blocks(shared.to, g).begin());
    }

    // Logits of all rows of one step over several sequences: {first token, past} each.
    struct Piece {
        uint32_t sequence, n_past;
        std::vector<TokenId> tokens;
    };
    Result<std::vector<float>> step(const std::vector<Piece>& pieces,
                                    std::span<const LogitTiles> tiles = {}) {
        std::vector<TokenId> tokens;
        std::vector<SequenceRows> sequences;
        for (const Piece& piece : pieces) {
            sequences.push_back({.blocks = blocks(piece.sequence),
                                 .n_past = piece.n_past,
                                 .first_row = static_cast<uint32_t>(tokens.size()),
                                 .n_rows = static_cast<uint32_t>(piece.tokens.size()),
                                 .group_stride = n_per_sequence_});
            tokens.insert(tokens.end(), piece.tokens.begin(), piece.tokens.end());
        }
        std::vector<uint32_t> rows(tokens.size());
        std::iota(rows.begin(), rows.end(), 0u);
        std::vector<float> logits(rows.size() * model->spec().vocab_size);
        KVIK_TRY_VOID(model->forward({tokens, sequences, rows, tiles}, view_, *scratch_, logits));
        return logits;
    }

    // All logits of one sequence, computed in chunks of `chunk` rows.
    std::vector<float> all(const std::vector<TokenId>& tokens, uint32_t chunk) {
        std::vector<float> logits;
        for (uint32_t past = 0; past < tokens.size(); past += chunk) {
            const auto n = std::min<size_t>(chunk, tokens.size() - past);
            auto part = step({{0, past, {tokens.begin() + past, tokens.begin() + past + n}}});
            EXPECT_TRUE(part.has_value());
            logits.insert(logits.end(), part->begin(), part->end());
        }
        return logits;
    }

    std::unique_ptr<Model> model;

  private:
    ThreadPool pool_;
    uint32_t n_per_sequence_ = 0;
    std::vector<BlockId> blocks_;
    Arena storage_;
    KvView view_;
    std::unique_ptr<Scratch> scratch_;
};

inline std::vector<TokenId> random_tokens(uint32_t n, uint32_t vocab_size, uint64_t seed) {
    std::mt19937_64 rng(seed);
    std::vector<TokenId> tokens(n);
    for (TokenId& token : tokens) token = static_cast<TokenId>(rng() % vocab_size);
    return tokens;
}

}  // namespace kvik::testing
