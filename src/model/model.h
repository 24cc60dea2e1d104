// Model: token ids in, logits out, KV in between. Immutable after load.
//
// Shape   a Batch is n rows; row r of sequence s is its token at position n_past + (r - first_row).
//         logits : [batch.logits_rows.size(), vocab_size], row-major f32
// Threads forward is const; one forward per Scratch at a time. It runs on the Scratch's pool.
// Cost    a forward never allocates: all working memory is in the Scratch.
// Invariant a row's logits depend on its own sequence's tokens alone: not on the other rows, the
//         chunking, the block ids, the number of threads or the instruction set (kernels/SPEC.md).
// Errors  NaN or infinity in an activation: ErrorKind::failed naming the layer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/logit_tiles.h"
#include "base/result.h"
#include "base/types.h"
#include "cache/kv_spec.h"

namespace kvik {

struct ModelSpec {
    std::string architecture;
    std::string name;
    uint32_t vocab_size = 0;
    uint32_t context_length = 0;  // longest sequence the model was made for
    KvSpec kv;                    // type and block_tokens are filled in by whoever opens the cache
    uint64_t n_parameters = 0;
    uint64_t weight_bytes = 0;  // resident bytes of the packed weights
    std::string fingerprint;    // hex SHA-256 over all that the weights' side of KV depends on
};

// Rows of one sequence in a batch. `blocks` covers positions 0 .. n_past + n_rows - 1; what lies
// before first_needed(window of the group, n_past) is never read.
struct SequenceRows {
    std::span<const BlockId> blocks;  // of the first group of layers
    uint32_t n_past = 0;              // positions whose KV is already there
    uint32_t first_row = 0;  // its rows in the batch are first_row .. first_row + n_rows - 1
    uint32_t n_rows = 0;
    uint32_t group_stride = 0;  // the ids of the next group follow so far behind

    BlockId block(uint32_t group, uint32_t place) const {
        return blocks.data()[uint64_t{group} * group_stride + place];
    }
};

struct Batch {
    std::span<const TokenId> tokens;          // [n_rows], each in [0, vocab_size)
    std::span<const SequenceRows> sequences;  // cover all rows, in order
    std::span<const uint32_t> logits_rows;    // ascending rows whose logits are wanted
    // What to note of each wanted row on the way, beside its logits; empty: nothing of any.
    std::span<const LogitTiles> logit_tiles = {};
};

class StepProfile;
class ThreadPool;

struct ScratchLimits {
    uint32_t n_rows = 512;           // most rows in a batch
    uint32_t n_logits_rows = 64;     // most logits rows in a batch
    uint32_t context_length = 0;     // longest sequence
    StepProfile* profile = nullptr;  // where the time of its forwards is to be counted
};

// Working memory of one engine; opaque to everyone but the model that made it.
class Scratch {
  public:
    virtual ~Scratch() = default;
    virtual uint64_t n_bytes() const = 0;
};

class Model {
  public:
    virtual ~Model() = default;
    virtual const ModelSpec& spec() const = 0;
    virtual Result<std::unique_ptr<Scratch>> make_scratch(const ScratchLimits& limits,
                                                          ThreadPool& pool) const = 0;
    // Writes the KV of every row to its block, then the wanted logits.
    [[nodiscard]] virtual Result<void> forward(const Batch& batch, const KvView& kv,
                                               Scratch& scratch, std::span<float> logits) const = 0;
};

}  // namespace kvik
