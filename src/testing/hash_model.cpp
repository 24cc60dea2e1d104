#include "testing/hash_model.h"

#include <fmt/format.h>

#include <bit>

#include "base/check.h"
#include "kernels/note_tiles.h"

namespace kvik {

// Finaliser of splitmix64 (Steele, Lea, Flood 2014, section 4): every input bit reaches every
// output bit.
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull;

// What a model remembers of one token: 16 bits an element, drawn in a fixed order. With the top bit
// of the exponent clear they are a finite f16, and the upper half of a finite f32.
struct TokenHash {
    uint64_t state;
    uint16_t next() {
        state += kGolden;
        return static_cast<uint16_t>(mix(state) >> 48 & 0xbfffu);
    }
};

static TokenHash token_hash(uint64_t seed, TokenId token, uint32_t position) {
    return {mix(seed ^ mix(static_cast<uint64_t>(token) << 32 | position))};
}

// The running hash of all the KV up to a position; elements in the order they were drawn.
struct Digest {
    uint64_t state;
    void add(uint32_t element) { state = (state ^ element) * 0x100000001b3ull; }
    void end_position() { state = mix(state + kGolden); }
};

// The places of one position's elements inside its block.
template <class Element>
struct Place {
    Element* k;  // [head_dim] with a stride of one tile
    Element* v;  // [head_dim]
};

template <class Element>
static Place<Element> place(const KvView& kv, std::span<const BlockId> blocks, uint32_t position,
                            uint32_t layer, uint32_t head) {
    const uint32_t dim = kv.spec.head_dim;
    const BlockId block = blocks[position / kv.spec.block_tokens];
    const uint32_t row = position % kv.spec.block_tokens;
    auto* k = reinterpret_cast<Element*>(kv.k(block, layer, head));
    auto* v = reinterpret_cast<Element*>(kv.v(block, layer, head));
    return {k + static_cast<size_t>(row / kKTileTokens) * dim * kKTileTokens + row % kKTileTokens,
            v + static_cast<size_t>(row) * dim};
}

static void encode(uint16_t bits, uint16_t& f16) {
    f16 = bits;
}
static void encode(uint16_t bits, uint32_t& f32) {
    f32 = static_cast<uint32_t>(bits) << 16;
}
static uint32_t decode(uint16_t f16) {
    return f16;
}
static uint32_t decode(uint32_t f32) {
    return std::rotl(f32, 16);
}

template <class Element>
static void write_position(const KvView& kv, std::span<const BlockId> blocks, uint32_t position,
                           TokenHash hash) {
    for (uint32_t layer = 0; layer < kv.spec.n_layers; ++layer)
        for (uint32_t head = 0; head < kv.spec.n_kv_heads; ++head) {
            const Place<Element> to = place<Element>(kv, blocks, position, layer, head);
            for (uint32_t d = 0; d < kv.spec.head_dim; ++d) {
                encode(hash.next(), to.k[d * kKTileTokens]);
                encode(hash.next(), to.v[d]);
            }
        }
}

template <class Element>
static void read_position(const KvView& kv, std::span<const BlockId> blocks, uint32_t position,
                          Digest& digest) {
    for (uint32_t layer = 0; layer < kv.spec.n_layers; ++layer)
        for (uint32_t head = 0; head < kv.spec.n_kv_heads; ++head) {
            const Place<Element> at = place<Element>(kv, blocks, position, layer, head);
            for (uint32_t d = 0; d < kv.spec.head_dim; ++d) {
                digest.add(decode(at.k[d * kKTileTokens]));
                digest.add(decode(at.v[d]));
            }
        }
    digest.end_position();
}

// Logits in [-8, 8), exact multiples of 2^-16.
static void write_logits(const Digest& digest, std::span<float> out) {
    for (size_t v = 0; v < out.size(); ++v) {
        const auto bits = static_cast<int32_t>(mix(digest.state + v * kGolden) >> 44);
        out[v] = static_cast<float>(bits - (1 << 19)) / 65536.0f;
    }
}

namespace {
class NoScratch final : public Scratch {
  public:
    uint64_t n_bytes() const override { return 0; }
};
}  // namespace

HashModel::HashModel(const HashModelOptions& options) : seed_(mix(options.seed)) {
    spec_.architecture = "hash";
    spec_.name = "hash model";
    spec_.vocab_size = options.vocab_size;
    spec_.context_length = options.context_length;
    spec_.kv = {.n_layers = options.n_layers,
                .n_kv_heads = options.n_kv_heads,
                .head_dim = options.head_dim};
    spec_.fingerprint = fmt::format("hash-{:016x}", seed_);
}

Result<std::unique_ptr<Scratch>> HashModel::make_scratch(const ScratchLimits&, ThreadPool&) const {
    return std::make_unique<NoScratch>();
}

std::vector<float> HashModel::read_back(const KvView& kv, std::span<const BlockId> blocks,
                                        uint32_t n_tokens) const {
    Digest digest{seed_};
    for (uint32_t position = 0; position < n_tokens; ++position)
        if (kv.spec.type == KvType::f16)
            read_position<uint16_t>(kv, blocks, position, digest);
        else
            read_position<uint32_t>(kv, blocks, position, digest);
    std::vector<float> logits(spec_.vocab_size);
    write_logits(digest, logits);
    return logits;
}

std::vector<float> HashModel::cold_logits(std::span<const TokenId> tokens) const {
    const uint32_t n_elements = 2 * spec_.kv.n_layers * spec_.kv.n_kv_heads * spec_.kv.head_dim;
    Digest digest{seed_};
    for (uint32_t position = 0; position < tokens.size(); ++position) {
        TokenHash hash = token_hash(seed_, tokens[position], position);
        for (uint32_t i = 0; i < n_elements; ++i) digest.add(hash.next());
        digest.end_position();
    }
    std::vector<float> logits(spec_.vocab_size);
    write_logits(digest, logits);
    return logits;
}

template <class Element>
static void forward_rows(const Batch& batch, const KvView& kv, uint64_t seed, size_t vocab_size,
                         std::span<float> logits) {
    for (const SequenceRows& s : batch.sequences)
        for (uint32_t i = 0; i < s.n_rows; ++i)
            write_position<Element>(kv, s.blocks, s.n_past + i,
                                    token_hash(seed, batch.tokens[s.first_row + i], s.n_past + i));
    size_t n_logits = 0;
    for (const SequenceRows& s : batch.sequences) {
        Digest digest{seed};
        for (uint32_t position = 0; position < s.n_past + s.n_rows; ++position) {
            const uint32_t end_row = s.first_row + s.n_rows;
            if (n_logits == batch.logits_rows.size() || batch.logits_rows[n_logits] >= end_row)
                break;  // nothing more is asked of this sequence
            read_position<Element>(kv, s.blocks, position, digest);
            if (position < s.n_past) continue;
            if (batch.logits_rows[n_logits] != s.first_row + (position - s.n_past)) continue;
            const std::span<float> row = logits.subspan(n_logits * vocab_size, vocab_size);
            write_logits(digest, row);
            if (!batch.logit_tiles.empty())
                note_tiles(kScalarKernels, row.data(), static_cast<uint32_t>(vocab_size),
                           batch.logit_tiles[n_logits]);
            ++n_logits;
        }
    }
    KVIK_CHECK(n_logits == batch.logits_rows.size(), "wanted rows are ascending rows of the batch");
}

Result<void> HashModel::forward(const Batch& batch, const KvView& kv, Scratch&,
                                std::span<float> logits) const {
    KVIK_CHECK(logits.size() >= batch.logits_rows.size() * spec_.vocab_size,
               "logits has room for the wanted rows");
    KVIK_CHECK(kv.spec.n_layers == spec_.kv.n_layers && kv.spec.n_kv_heads == spec_.kv.n_kv_heads &&
                   kv.spec.head_dim == spec_.kv.head_dim,
               "the KV cache was opened for this model");
    uint32_t n_rows = 0;
    for (const SequenceRows& s : batch.sequences) {
        KVIK_CHECK(s.first_row == n_rows, "sequences cover all rows, in order");
        KVIK_CHECK(s.n_past + s.n_rows <= s.blocks.size() * kv.spec.block_tokens,
                   "blocks cover all positions");
        n_rows += s.n_rows;
    }
    KVIK_CHECK(n_rows == batch.tokens.size(), "sequences cover all rows, in order");
    for (const TokenId token : batch.tokens)
        KVIK_CHECK(token >= 0 && static_cast<uint32_t>(token) < spec_.vocab_size,
                   "a token is in the vocabulary");
    if (kv.spec.type == KvType::f16)
        forward_rows<uint16_t>(batch, kv, seed_, spec_.vocab_size, logits);
    else
        forward_rows<uint32_t>(batch, kv, seed_, spec_.vocab_size, logits);
    n_rows_computed_.fetch_add(n_rows, std::memory_order_relaxed);
    n_forwards_.fetch_add(1, std::memory_order_relaxed);
    return {};
}

}  // namespace kvik
