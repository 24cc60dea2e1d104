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
    TokenHash after(uint64_t n_elements) const { return {state + n_elements * kGolden}; }
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

// A layer's part of a position: where its elements are, head by head.
struct LayerPosition {
    uint32_t layer, position;
};

template <class Element>
static Place<Element> place(const KvView& kv, const SequenceRows& sequence, LayerPosition at,
                            uint32_t head) {
    const uint32_t dim = kv.spec.head_dim;
    const BlockId block =
        sequence.block(kv.spec.layer(at.layer).group, at.position / kv.spec.block_tokens);
    const uint32_t row = at.position % kv.spec.block_tokens;
    auto* k = reinterpret_cast<Element*>(kv.k(block, at.layer, head));
    auto* v = reinterpret_cast<Element*>(kv.v(block, at.layer, head));
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
static void write_position(const KvView& kv, const SequenceRows& sequence, uint32_t position,
                           TokenHash hash) {
    for (uint32_t layer = 0; layer < kv.spec.n_layers; ++layer)
        for (uint32_t head = 0; head < kv.spec.n_kv_heads; ++head) {
            const Place<Element> to = place<Element>(kv, sequence, {layer, position}, head);
            for (uint32_t d = 0; d < kv.spec.head_dim; ++d) {
                encode(hash.next(), to.k[d * kKTileTokens]);
                encode(hash.next(), to.v[d]);
            }
        }
}

template <class Element>
static void read_layer(const KvView& kv, const SequenceRows& sequence, LayerPosition what,
                       Digest& digest) {
    for (uint32_t head = 0; head < kv.spec.n_kv_heads; ++head) {
        const Place<Element> at = place<Element>(kv, sequence, what, head);
        for (uint32_t d = 0; d < kv.spec.head_dim; ++d) {
            digest.add(decode(at.k[d * kKTileTokens]));
            digest.add(decode(at.v[d]));
        }
    }
}

// The digest of all that layers without a window hold, position after position.
template <class Read>
static void add_full(std::span<const uint32_t> windows, uint32_t position, const Read& read,
                     Digest& digest) {
    for (uint32_t layer = 0; layer < windows.size(); ++layer)
        if (windows[layer] == 0) read(LayerPosition{layer, position}, digest);
    digest.end_position();
}

// And of what the others see from the last position; it goes on from the digest of the full ones.
template <class Read>
static Digest with_windows(std::span<const uint32_t> windows, uint32_t n_tokens, const Read& read,
                           Digest digest) {
    for (uint32_t layer = 0; layer < windows.size(); ++layer) {
        if (windows[layer] == 0) continue;
        for (uint32_t i = first_needed(windows[layer], n_tokens - 1); i < n_tokens; ++i)
            read(LayerPosition{layer, i}, digest);
        digest.end_position();
    }
    return digest;
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

HashModel::HashModel(const HashModelOptions& options)
    : seed_(mix(options.seed)), windows_(options.windows) {
    KVIK_CHECK(windows_.empty() || windows_.size() == options.n_layers, "every layer has a window");
    spec_.architecture = "hash";
    spec_.name = "hash model";
    spec_.vocab_size = options.vocab_size;
    spec_.context_length = options.context_length;
    spec_.kv = {.n_layers = options.n_layers,
                .n_kv_heads = options.n_kv_heads,
                .head_dim = options.head_dim};
    if (!windows_.empty()) spec_.kv.groups = KvGroups::of(windows_);
    windows_.resize(options.n_layers);
    spec_.fingerprint = fmt::format("hash-{:016x}", seed_);
}

Result<std::unique_ptr<Scratch>> HashModel::make_scratch(const ScratchLimits&, ThreadPool&) const {
    return std::make_unique<NoScratch>();
}

template <class Read>
std::vector<float> HashModel::logits_of(uint32_t n_tokens, const Read& read) const {
    Digest digest{seed_};
    for (uint32_t i = 0; i < n_tokens; ++i) add_full(windows_, i, read, digest);
    std::vector<float> logits(spec_.vocab_size);
    write_logits(n_tokens == 0 ? digest : with_windows(windows_, n_tokens, read, digest), logits);
    return logits;
}

std::vector<float> HashModel::read_back(const KvView& kv, const SequenceRows& sequence,
                                        uint32_t n_tokens) const {
    if (kv.spec.type == KvType::f16)
        return logits_of(n_tokens, [&](LayerPosition at, Digest& digest) {
            read_layer<uint16_t>(kv, sequence, at, digest);
        });
    return logits_of(n_tokens, [&](LayerPosition at, Digest& digest) {
        read_layer<uint32_t>(kv, sequence, at, digest);
    });
}

std::vector<float> HashModel::cold_logits(std::span<const TokenId> tokens) const {
    const uint32_t n_elements = 2 * spec_.kv.n_kv_heads * spec_.kv.head_dim;  // of a layer
    const auto n_tokens = static_cast<uint32_t>(tokens.size());
    return logits_of(n_tokens, [&](LayerPosition at, Digest& digest) {
        TokenHash hash = token_hash(seed_, tokens[at.position], at.position)
                             .after(uint64_t{at.layer} * n_elements);
        for (uint32_t i = 0; i < n_elements; ++i) digest.add(hash.next());
    });
}

template <class Element>
void HashModel::forward_rows(const Batch& batch, const KvView& kv, std::span<float> logits) const {
    for (const SequenceRows& s : batch.sequences)
        for (uint32_t i = 0; i < s.n_rows; ++i)
            write_position<Element>(kv, s, s.n_past + i,
                                    token_hash(seed_, batch.tokens[s.first_row + i], s.n_past + i));
    size_t n_logits = 0;
    for (const SequenceRows& s : batch.sequences) {
        const auto read = [&](LayerPosition at, Digest& digest) {
            read_layer<Element>(kv, s, at, digest);
        };
        Digest digest{seed_};
        for (uint32_t position = 0; position < s.n_past + s.n_rows; ++position) {
            const uint32_t end_row = s.first_row + s.n_rows;
            if (n_logits == batch.logits_rows.size() || batch.logits_rows[n_logits] >= end_row)
                break;  // nothing more is asked of this sequence
            add_full(windows_, position, read, digest);
            if (position < s.n_past) continue;
            if (batch.logits_rows[n_logits] != s.first_row + (position - s.n_past)) continue;
            const std::span<float> row =
                logits.subspan(n_logits * spec_.vocab_size, spec_.vocab_size);
            write_logits(with_windows(windows_, position + 1, read, digest), row);
            if (!batch.logit_tiles.empty())
                note_tiles(kScalarKernels, row.data(), spec_.vocab_size,
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
        forward_rows<uint16_t>(batch, kv, logits);
    else
        forward_rows<uint32_t>(batch, kv, logits);
    n_rows_computed_.fetch_add(n_rows, std::memory_order_relaxed);
    n_forwards_.fetch_add(1, std::memory_order_relaxed);
    return {};
}

}  // namespace kvik
