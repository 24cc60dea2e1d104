// What the head notes beside its logits: every tile of every row that was asked for, whichever way.
#include <gtest/gtest.h>

#include <cstring>

#include "base/logit_tiles.h"
#include "kernels/note_tiles.h"
#include "testing/model_rig.h"

namespace kvik::testing {
namespace {

// Room for the notes of n rows; row i asks for what `i % 4` says.
struct Notes {
    Notes(uint32_t n, uint32_t vocab_size) : n_tiles(n_logit_tiles(vocab_size)) {
        room.assign(3 * n * n_tiles, -7.0f);
        for (uint32_t i = 0; i < n; ++i) {
            const auto part = [&](size_t k) {
                return std::span(room).subspan((3 * i + k) * n_tiles, n_tiles);
            };
            LogitTiles tiles;
            if (i % 4 > 0) tiles.maxima = part(0);
            if (i % 4 > 1) tiles.sum_exps = part(1);
            if (i % 4 > 2) tiles.tempered = part(2);
            tiles.inverse_temperature = 1.0f / static_cast<float>(i + 1);
            rows.push_back(tiles);
        }
    }

    size_t n_tiles;
    std::vector<float> room;
    std::vector<LogitTiles> rows;
};

void expect_notes(const TinyLlama& shape, const RigOptions& options, uint32_t n) {
    const TemporaryFile file(tiny_llama(shape));
    Rig rig(file.path, options);
    const Notes got(n, shape.vocab_size), want(n, shape.vocab_size);
    const auto logits = rig.step({{0, 0, random_tokens(n, shape.vocab_size, 3)}}, got.rows);
    ASSERT_TRUE(logits.has_value());
    for (uint32_t i = 0; i < n; ++i)
        note_tiles(kScalarKernels, logits->data() + i * shape.vocab_size, shape.vocab_size,
                   want.rows[i]);
    EXPECT_EQ(std::memcmp(got.room.data(), want.room.data(), 4 * got.room.size()), 0)
        << "vocab " << shape.vocab_size << " rows " << n << " threads " << options.n_threads;
}

}  // namespace

TEST(TransformerHead, notes_what_is_asked_of_each_row) {
    for (const uint32_t vocab_size : {40u, 320u, 4099u, 5008u}) {
        TinyLlama shape;
        shape.vocab_size = vocab_size;
        for (const uint32_t n : {1u, 4u, 13u, 26u}) expect_notes(shape, {}, n);
    }
}

TEST(TransformerHead, notes_the_same_for_every_number_of_threads_and_instruction_set) {
    TinyLlama shape;
    shape.vocab_size = 4500;
    for (const KernelTable* kernels : runnable_kernels())
        for (const uint32_t n_threads : {1u, 2u, 5u}) {
            RigOptions options;
            options.kernels = kernels;
            options.n_threads = n_threads;
            expect_notes(shape, options, 5);
        }
}

}  // namespace kvik::testing
