// The transformer under KVIK_ACT=f32 against the formulas of the papers in double precision,
// written here a second time from the file's tensors.
#include <gtest/gtest.h>

#include <cmath>

#include "formats/gguf.h"
#include "testing/model_rig.h"

namespace kvik::testing {
namespace {

using Row = std::vector<double>;

struct Oracle {
    const GgufFile& file;
    TinyLlama s;

    std::vector<float> tensor(const std::string& name) const {
        const TensorView view = file.view(*file.find(name + ".weight"));
        const DTypeInfo& info = dtype_info(view.dtype);
        std::vector<float> values(view.shape.n_elements());
        info.decode(view.data(), values.size() / info.group_size, values.data());
        return values;
    }
    static Row times(const std::vector<float>& w, const Row& x) {
        Row y(w.size() / x.size(), 0.0);
        for (size_t o = 0; o < y.size(); ++o)
            for (size_t i = 0; i < x.size(); ++i) y[o] += double{w[o * x.size() + i]} * x[i];
        return y;
    }
    static Row norm(const Row& x, const std::vector<float>& w) {
        double ss = 0;
        for (const double v : x) ss += v * v;
        Row y(x.size());
        for (size_t i = 0; i < x.size(); ++i)
            y[i] = x[i] / std::sqrt(ss / static_cast<double>(x.size()) + 1e-5) * w[i];
        return y;
    }
    static void turn(Row& x, size_t dim, size_t position) {
        for (size_t head = 0; head < x.size(); head += dim)
            for (size_t i = 0; i < dim / 2; ++i) {
                const double angle =
                    static_cast<double>(position) *
                    std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
                double& a = x[head + 2 * i];
                double& b = x[head + 2 * i + 1];
                const double a0 = a, b0 = b;
                a = a0 * std::cos(angle) - b0 * std::sin(angle);
                b = a0 * std::sin(angle) + b0 * std::cos(angle);
            }
    }

    std::vector<Row> logits(const std::vector<TokenId>& tokens) const {
        const size_t dim = s.hidden_size / s.n_heads, group = s.n_heads / s.n_kv_heads;
        const std::vector<float> embedding = tensor("token_embd");
        std::vector<Row> x;
        for (const TokenId token : tokens) {
            const auto at = embedding.begin() + static_cast<ptrdiff_t>(token) * s.hidden_size;
            x.emplace_back(at, at + static_cast<ptrdiff_t>(s.hidden_size));
        }
        for (uint32_t layer = 0; layer < s.n_layers; ++layer) {
            const std::string p = "blk." + std::to_string(layer) + ".";
            const auto wq = tensor(p + "attn_q"), wk = tensor(p + "attn_k"),
                       wv = tensor(p + "attn_v"), wo = tensor(p + "attn_output");
            const auto gate = tensor(p + "ffn_gate"), up = tensor(p + "ffn_up"),
                       down = tensor(p + "ffn_down");
            const auto attn_norm = tensor(p + "attn_norm"), ffn_norm = tensor(p + "ffn_norm");
            std::vector<Row> ks, vs;
            for (size_t t = 0; t < x.size(); ++t) {
                const Row h = norm(x[t], attn_norm);
                Row q = times(wq, h);
                ks.push_back(times(wk, h));
                vs.push_back(times(wv, h));
                turn(q, dim, t);
                turn(ks.back(), dim, t);
                Row attended(q.size(), 0.0);
                for (size_t head = 0; head < s.n_heads; ++head) {
                    const size_t kv = head / group * dim;
                    std::vector<double> e(t + 1);
                    double sum = 0;
                    for (size_t u = 0; u <= t; ++u) {
                        double score = 0;
                        for (size_t d = 0; d < dim; ++d) score += q[head * dim + d] * ks[u][kv + d];
                        sum += e[u] = std::exp(score / std::sqrt(static_cast<double>(dim)));
                    }
                    for (size_t u = 0; u <= t; ++u)
                        for (size_t d = 0; d < dim; ++d)
                            attended[head * dim + d] += e[u] / sum * vs[u][kv + d];
                }
                const Row o = times(wo, attended);
                for (size_t i = 0; i < o.size(); ++i) x[t][i] += o[i];
            }
            for (Row& row : x) {
                const Row h = norm(row, ffn_norm);
                const Row g = times(gate, h), u = times(up, h);
                Row ff(g.size());
                for (size_t i = 0; i < g.size(); ++i) ff[i] = g[i] / (1 + std::exp(-g[i])) * u[i];
                const Row y = times(down, ff);
                for (size_t i = 0; i < y.size(); ++i) row[i] += y[i];
            }
        }
        const auto out_norm = tensor("output_norm");
        const auto head = s.head == TinyHead::tied ? embedding : tensor("output");
        std::vector<Row> out;
        for (const Row& row : x) out.push_back(times(head, norm(row, out_norm)));
        return out;
    }
};

// f32 chains of at most 96 terms, two layers, values of order 1: every result is within about
// 100 * 2^-24 = 6e-6 of its size; logits here are below 3, so 5e-5 leaves a factor of two.
TEST(Oracle, the_transformer_computes_the_papers_formulas) {
    for (const DType dtype : {DType::f32, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                              DType::q8_0, DType::iq4_nl})
        for (const TinyHead head : {TinyHead::tied, TinyHead::own}) {
            TinyLlama shape;
            shape.dtype = dtype;
            shape.head = head;
            shape.context_length = 64;
            const GgufWriter writer = tiny_llama(shape);
            const TemporaryFile path(writer);
            const auto file = GgufFile::open(path.path);
            ASSERT_TRUE(file.has_value());
            const std::vector<TokenId> tokens = random_tokens(40, shape.vocab_size, 3);
            RigOptions options;
            options.act = Act::f32;
            options.kv = KvType::f32;
            const std::vector<float> got = Rig(path.path, options).all(tokens, 16);
            const std::vector<Row> want = Oracle{*file, shape}.logits(tokens);
            double worst = 0;
            for (size_t t = 0; t < want.size(); ++t)
                for (size_t v = 0; v < want[t].size(); ++v)
                    worst = std::max(worst, std::fabs(got[t * shape.vocab_size + v] - want[t][v]));
            EXPECT_LT(worst, 5e-5) << dtype_info(dtype).name;
        }
}

}  // namespace
}  // namespace kvik::testing
