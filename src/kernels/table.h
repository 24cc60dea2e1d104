// KernelTable: the menu of inner loops, one const struct of function pointers an instruction set,
// chosen once (select.h). SPEC.md is the contract; reference/ is its oracle and the fallback.
//
// Shape   weights come as tiles of 16 output rows (pack.h), activations as panels of columns: a
//         panel holds up to kPanelCols tokens, [group][column][32] int8 and [group][column] scales.
// Threads pure functions of their arguments.   Cost  none allocates.
// Invariant every entry gives exactly the bits of the scalar reference, and a column's result does
//         not depend on the other columns or on how many there are.
#pragma once

#include <stdint.h>

namespace kvik {

inline constexpr uint32_t kTileRows = 16;      // output rows of a weight tile: one a lane
inline constexpr uint32_t kPanelCols = 12;     // tokens of an activation panel
inline constexpr uint32_t kPairCols = 6;       // of them that meet a pair of tiles at a time
inline constexpr uint32_t kGroup = 32;         // elements of a quantisation group
inline constexpr uint32_t kSuperGroup = 256;   // of the K types
inline constexpr uint32_t kChunkTokens = 256;  // attention works in chunks of this many positions
inline constexpr uint32_t kMaxHeadDim = 256;
inline constexpr uint32_t kMaxQueryGroups = kMaxHeadDim / kGroup;
inline constexpr uint32_t kMaxQueries = 12;  // query rows that go through attention together
inline constexpr uint32_t kAheadTiles = 4;   // tiles of K and V whose reading starts early

// Weight types with a tile layout; the index into KernelTable::types.
enum class TileType : uint32_t {
    f32,
    f16,
    bf16,
    q4_0,
    q4_1,
    q5_0,
    q5_1,
    q8_0,
    iq4_nl,
    q2_k,
    q3_k,
    q4_k,
    q5_k,
    q6_k
};
inline constexpr uint32_t kTileTypes = 14;

// One panel of quantised activations (R2). Group g of column c starts at q + (g * stride + c) * 32.
struct QuantPanel {
    int8_t* q;      // [n_groups][stride][32]
    float* d;       // [n_groups][stride] scale
    float* u;       // [n_groups][stride] d * float(sum of q): what a minimum is multiplied with
    int32_t* nsum;  // [n_groups][stride] -(sum of q): what a zero point is multiplied with
    uint32_t stride;
};

// The same for the K types: one scale per 256 elements. Group g of column c starts at
// q + (g * stride + c) * 256.
struct SuperPanel {
    int8_t* q;        // [n_groups][stride][256]
    float* d;         // [n_groups][stride] scale
    int32_t* nsum16;  // [n_groups][stride][16] -(sum of 16): what a zero point is multiplied with
    int16_t* nsum32;  // [n_groups][stride][8] -(sum of 32): what a minimum is multiplied with
    uint32_t stride;
};

// A 256-group of a tile, unpacked for prefill: u8 in the order of k, a scale d * sc for each
// sub-group (16 of 16 elements, or 8 of 32). Minimums are 8-bit in sub-groups of 16, [16][16], and
// 16-bit numbers in pairs of sub-groups of 32, [4][16][2].
struct UnpackedSuperGroup {
    uint8_t w[4096];
    float scale[16][16];
    uint8_t min[256];
    float min_scale[16];
};

// A tile unpacked for prefill: a group is 512 bytes of u8 in tile order, 16 scales and 16 minimums.
struct UnpackedGroup {
    uint8_t w[512];
    float scale[16];
    float min[16];
};

// One row tile times some columns: out[c * ld + r], r < 16.
struct TileOut {
    float* out;
    uint64_t ld;
};

// What a product fetches into the cache while it computes, as a rule the tiles that come next:
// n_lines cache lines a group. One stream at a time: two are slower.
struct Prefetch {
    const uint8_t *at, *then;
    uint32_t n_bytes, n_then;
    uint32_t n_lines;
};

struct TileKernels {
    // Weights straight from the tile, columns [c0, c0 + n) of the panel, n <= kPanelCols.
    // Null for f32, f16 and bf16, which take f32 activations, and for the K types (below).
    void (*matmul)(const uint8_t* tile, uint32_t n_groups, QuantPanel panel, uint32_t c0,
                   uint32_t n, TileOut out);
    // Tile -> [n_groups] UnpackedGroup.
    void (*unpack)(const uint8_t* tile, uint32_t n_groups, UnpackedGroup* groups);
    // Tile -> [k][16] f32, exactly the type's decode; k = 32 * n_groups, or n_groups for
    // f32, f16 and bf16.
    void (*decode)(const uint8_t* tile, uint32_t n_groups, float* out);
    // The same for the K types, which have these two instead of matmul and unpack. super_unpack is
    // null where reading the tile is as fast.
    void (*super_matmul)(const uint8_t* tile, uint32_t n_groups, SuperPanel panel, uint32_t c0,
                         uint32_t n, TileOut out);
    void (*super_unpack)(const uint8_t* tile, uint32_t n_groups, UnpackedSuperGroup* groups);
    // R3: weights straight from the tile times f32 columns x[i * stride + c], i < k. Null but for
    // f32, f16 and bf16.
    void (*matmul_floats)(const uint8_t* tile, uint32_t k, const float* x, uint32_t stride,
                          uint32_t n, TileOut out);
    bool unpack_pays = false;  // for many columns, though there is matmul_pair
    // Two tiles of one type, columns [0, n) of the panel. Null where matmul is as fast.
    void (*matmul_pair)(const uint8_t* a, const uint8_t* b, uint32_t n_groups, QuantPanel panel,
                        uint32_t n, TileOut out_a, TileOut out_b, Prefetch& ahead) = nullptr;
    void (*super_pair)(const uint8_t* a, const uint8_t* b, uint32_t n_groups, SuperPanel panel,
                       uint32_t n, TileOut out_a, TileOut out_b, Prefetch& ahead) = nullptr;
    // R3: quantised weights times f32 columns x[i * n + c], n <= kPanelCols; b may be null. Null
    // where decoding a whole tile first is as fast.
    void (*decoded_pair)(const uint8_t* a, const uint8_t* b, uint32_t n_groups, const float* x,
                         uint32_t n, TileOut out_a, TileOut out_b, Prefetch& ahead) = nullptr;
};

// Queries of q8 KV (R10): bytes, and for each group of 32 dims a scale and -(sum of the bytes).
struct QuantQueries {
    const int8_t* q;      // [n_queries][kMaxHeadDim]
    const float* d;       // [n_queries][kMaxQueryGroups]
    const int32_t* nsum;  // [n_queries][kMaxQueryGroups]
};

// One chunk of attention (R5) for query rows that share a kv head. All ranges are within the chunk.
struct AttentionChunk {
    uint32_t n_queries;  // 1 .. kMaxQueries
    uint32_t head_dim;   // a multiple of 16, at most kMaxHeadDim
    const float* q;      // [n_queries][kMaxHeadDim]
    const void* const*
        k_tiles;  // [16] tiles of 16 positions, as in cache/kv_spec.h: [head_dim][16]
    const void* const* v_tiles;  // [16] rows of 16 positions: [16][head_dim]
    const uint32_t* begin;       // [n_queries] first visible position
    const uint32_t* end;         // [n_queries] one past the last; begin == end: nothing visible
    float scale;
    float* scores;  // [n_queries][kChunkTokens] working memory, 64-byte aligned
    // Running state, merged into: maximum, sum, and weighted values.
    float* m;                             // [n_queries]
    float* l;                             // [n_queries]
    float* o;                             // [n_queries][kMaxHeadDim]
    const void* const* next_k = nullptr;  // [kAheadTiles] tiles of K that are read after this chunk
    QuantQueries quant = {};              // of q8 KV, which does not look at q
};

struct KernelTable {
    const char* name;
    TileKernels types[kTileTypes];

    // n columns from two unpacked tiles of one type (b may be null: one tile).
    void (*matmul_unpacked)(TileType type, const UnpackedGroup* a, const UnpackedGroup* b,
                            uint32_t n_groups, QuantPanel panel, uint32_t c0, uint32_t n,
                            TileOut out_a, TileOut out_b);
    // n columns from one unpacked tile of a K type. Null where nothing unpacks.
    void (*super_matmul_unpacked)(TileType type, const UnpackedSuperGroup* tile, uint32_t n_groups,
                                  SuperPanel panel, uint32_t c0, uint32_t n, TileOut out);
    // R3: decoded weights, [k][16] f32, times f32 columns x[i * stride + c].
    void (*matmul_f32)(const float* tile, uint32_t k, const float* x, uint32_t stride, uint32_t n,
                       TileOut out);
    // R2: one row into column c of a panel. Returns 0 if a value is NaN or infinite.
    int (*quantize)(const float* x, uint32_t n_groups, QuantPanel panel, uint32_t c);
    int (*super_quantize)(const float* x, uint32_t n_groups, SuperPanel panel, uint32_t c);
    // R4: y = x * (1 / sqrt(ss / n + eps)) * w. Returns ss: not finite if a value was not.
    float (*rms_norm)(const float* x, const float* w, float eps, uint32_t n, float* y);
    // R4: y = ((x - mean) * (1 / sqrt(ss / n + eps))) * w + b, ss of x - mean. Returns ss: not
    // finite if a value was not.
    float (*layer_norm)(const float* x, const float* w, const float* b, float eps, uint32_t n,
                        float* y);
    // R6: out = silu(gate) * up.
    void (*silu_mul)(const float* gate, const float* up, uint32_t n, float* out);
    // R6: out = gelu(gate) * up, gelu in its tanh form.
    void (*gelu_mul)(const float* gate, const float* up, uint32_t n, float* out);
    void (*gelu)(const float* x, uint32_t n, float* out);
    // R6: turns the first n_dims of a head in place, pairs (2i, 2i + 1) or (i, i + n_dims / 2).
    // row: n_dims / 2 cosines, then as many sines.
    void (*rope_adjacent)(const float* row, uint32_t n_dims, float* head);
    void (*rope_halves)(const float* row, uint32_t n_dims, float* head);
    // f32 -> f16, clamped to +-65504.
    void (*to_half)(const float* x, uint32_t n, uint16_t* out);
    void (*attend_f16)(const AttentionChunk& chunk);
    void (*attend_f32)(const AttentionChunk& chunk);
    void (*attend_q8)(const AttentionChunk& chunk);
    // R10: n values, a multiple of 16, as one group of R2. Returns 0 if one is NaN or infinite.
    int (*quantize_group)(const float* x, uint32_t n, int8_t* q, float* d);
    // R5's merge of a later state of one row into an earlier one; an empty later state (m = -inf)
    // is skipped. o and into_o: [head_dim].
    void (*merge_state)(float m, float l, const float* o, uint32_t head_dim, float* into_m,
                        float* into_l, float* into_o);
    // R11: n logits -> a number for each 16, the last ones perhaps fewer: the maximum, and the sum
    // of exp((x - maximum) * inverse_temperature).
    void (*tile_maxima)(const float* x, uint32_t n, float* maxima);
    void (*tile_sum_exp)(const float* x, uint32_t n, const float* maxima, float inverse_temperature,
                         float* sum_exps);
};

extern const KernelTable kScalarKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx2VnniKernels;
extern const KernelTable kAvx512Kernels;

}  // namespace kvik
