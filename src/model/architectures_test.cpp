// Every architecture: its formulas, written a second time in double precision from the papers, and
// the same bits whichever way it is computed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "testing/model_rig.h"
#include "testing/tiny_models.h"

namespace kvik::testing {
namespace {

using Row = std::vector<double>;

struct TemporaryDirectory {
    std::string path = ::testing::TempDir() + "kvik_model_" + std::to_string(::getpid());
    explicit TemporaryDirectory(const TinyModel& model) {
        std::filesystem::create_directories(path);
        EXPECT_TRUE(model.write(path));
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path); }
};

struct Oracle {
    const TinyModel& m;

    bool is_gpt2() const { return m.type == "gpt2"; }
    bool is_gemma() const { return m.type == "gemma3_text"; }

    // y = W x + b; GPT-2's matrices lie turned.
    Row times(const std::string& name, const Row& x) const {
        const TinyModel::Tensor& w = m.tensor(name + ".weight");
        const bool is_turned = is_gpt2() && name.find(".h.") != std::string::npos;
        const size_t n_out = is_turned ? w.dims[1] : w.dims[0];
        Row y(n_out, 0.0);
        for (size_t o = 0; o < n_out; ++o) {
            for (size_t i = 0; i < x.size(); ++i)
                y[o] += double{w.values[is_turned ? i * n_out + o : o * x.size() + i]} * x[i];
            if (m.has(name + ".bias")) y[o] += double{m.tensor(name + ".bias").values[o]};
        }
        return y;
    }
    Row norm(const std::string& name, const Row& x) const {
        const auto& w = m.tensor(name + ".weight").values;
        double mean = 0, ss = 0;
        if (is_gpt2())
            for (const double v : x) mean += v / static_cast<double>(x.size());
        for (const double v : x) ss += (v - mean) * (v - mean);
        const double scale = 1 / std::sqrt(ss / static_cast<double>(x.size()) + 1e-5);
        Row y(x.size());
        for (size_t i = 0; i < x.size(); ++i)
            y[i] = (x[i] - mean) * scale * (double{w[i]} + (is_gemma() ? 1 : 0)) +
                   (is_gpt2() ? double{m.tensor(name + ".bias").values[i]} : 0);
        return y;
    }
    void turn(double* head, uint32_t layer, size_t position) const {
        const bool is_local = is_gemma() && m.windows[layer] > 0;
        const double base = is_local ? m.local_rope_base : m.rope_base;
        for (size_t i = 0; i < m.head_dim / 2; ++i) {
            double frequency = std::pow(base, -2.0 * static_cast<double>(i) / m.head_dim);
            if (m.llama3_factor > 0) {
                const double wave = 2 * M_PI / frequency;
                const double smooth = (32 / wave - 1) / (4 - 1);
                if (wave > 32)
                    frequency /= m.llama3_factor;
                else if (wave > 32.0 / 4)
                    frequency *= (1 - smooth) / m.llama3_factor + smooth;
            }
            const double angle = static_cast<double>(position) * frequency;
            double& a = head[i];
            double& b = head[i + m.head_dim / 2];
            const double a0 = a, b0 = b;
            a = a0 * std::cos(angle) - b0 * std::sin(angle);
            b = a0 * std::sin(angle) + b0 * std::cos(angle);
        }
    }
    Row heads(const std::string& name, Row x, uint32_t layer, size_t position) const {
        if (is_gpt2()) return x;
        for (size_t at = 0; at < x.size(); at += m.head_dim) {
            if (m.has(name + ".weight")) {
                const auto from = x.begin() + static_cast<ptrdiff_t>(at);
                const Row normed = norm(name, Row(from, from + m.head_dim));
                std::copy(normed.begin(), normed.end(), from);
            }
            turn(x.data() + at, layer, position);
        }
        return x;
    }
    static double gelu(double x) {
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    }
    Row attend(uint32_t layer, const Row& q, const std::vector<Row>& ks,
               const std::vector<Row>& vs) const {
        const size_t dim = m.head_dim, t = ks.size() - 1;
        const size_t window = m.windows.empty() ? 0 : m.windows[layer];
        const size_t from = window == 0 || t + 1 <= window ? 0 : t + 1 - window;
        Row out(q.size(), 0.0);
        for (size_t head = 0; head < m.n_heads; ++head) {
            const size_t kv = head / (m.n_heads / m.n_kv_heads) * dim;
            std::vector<double> e(t + 1, 0);
            double sum = 0;
            for (size_t u = from; u <= t; ++u) {
                double score = 0;
                for (size_t d = 0; d < dim; ++d) score += q[head * dim + d] * ks[u][kv + d];
                sum += e[u] = std::exp(score / std::sqrt(static_cast<double>(dim)));
            }
            for (size_t u = from; u <= t; ++u)
                for (size_t d = 0; d < dim; ++d) out[head * dim + d] += e[u] / sum * vs[u][kv + d];
        }
        return out;
    }
    Row mlp(const std::string& p, const Row& x) const {
        if (is_gpt2()) {
            Row up = times(p + "mlp.c_fc", x);
            for (double& v : up) v = gelu(v);
            return times(p + "mlp.c_proj", up);
        }
        const Row gate = times(p + "mlp.gate_proj", x);
        Row up = times(p + "mlp.up_proj", x);
        for (size_t i = 0; i < up.size(); ++i)
            up[i] *= is_gemma() ? gelu(gate[i]) : gate[i] / (1 + std::exp(-gate[i]));
        return times(p + "mlp.down_proj", up);
    }
    static void add(Row& x, const Row& y) {
        for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    }

    std::vector<Row> embed(const std::vector<TokenId>& tokens) const {
        const auto& table =
            m.tensor(is_gpt2() ? "transformer.wte.weight" : "model.embed_tokens.weight").values;
        std::vector<Row> x;
        for (size_t t = 0; t < tokens.size(); ++t) {
            Row row(m.hidden_size);
            for (size_t i = 0; i < row.size(); ++i) {
                row[i] = double{table[static_cast<size_t>(tokens[t]) * row.size() + i]};
                if (is_gemma()) row[i] *= std::sqrt(static_cast<double>(m.hidden_size));
                if (is_gpt2())
                    row[i] += double{m.tensor("transformer.wpe.weight").values[t * row.size() + i]};
            }
            x.push_back(row);
        }
        return x;
    }
    void layer(uint32_t i, std::vector<Row>& x) const {
        const std::string p =
            (is_gpt2() ? "transformer.h." : "model.layers.") + std::to_string(i) + ".";
        const std::string a = p + "self_attn.";
        std::vector<Row> ks, vs;
        for (size_t t = 0; t < x.size(); ++t) {
            const Row h = norm(p + (is_gpt2() ? "ln_1" : "input_layernorm"), x[t]);
            Row q;
            if (is_gpt2()) {
                const Row qkv = times(p + "attn.c_attn", h);
                const auto part = [&](size_t n) {
                    const auto from = qkv.begin() + static_cast<ptrdiff_t>(n * h.size());
                    return Row(from, from + static_cast<ptrdiff_t>(h.size()));
                };
                q = part(0);
                ks.push_back(part(1));
                vs.push_back(part(2));
            } else {
                q = heads(a + "q_norm", times(a + "q_proj", h), i, t);
                ks.push_back(heads(a + "k_norm", times(a + "k_proj", h), i, t));
                vs.push_back(times(a + "v_proj", h));
            }
            const Row out =
                times(is_gpt2() ? p + "attn.c_proj" : a + "o_proj", attend(i, q, ks, vs));
            add(x[t], is_gemma() ? norm(p + "post_attention_layernorm", out) : out);
        }
        const char* before = is_gpt2()    ? "ln_2"
                             : is_gemma() ? "pre_feedforward_layernorm"
                                          : "post_attention_layernorm";
        for (Row& row : x) {
            const Row out = mlp(p, norm(p + before, row));
            add(row, is_gemma() ? norm(p + "post_feedforward_layernorm", out) : out);
        }
    }
    std::vector<Row> logits(const std::vector<TokenId>& tokens) const {
        std::vector<Row> x = embed(tokens);
        for (uint32_t i = 0; i < m.n_layers; ++i) layer(i, x);
        const char* head = !m.tied     ? "lm_head"
                           : is_gpt2() ? "transformer.wte"
                                       : "model.embed_tokens";
        std::vector<Row> out;
        for (const Row& row : x)
            out.push_back(times(head, norm(is_gpt2() ? "transformer.ln_f" : "model.norm", row)));
        return out;
    }
};

struct Architectures : ::testing::TestWithParam<std::string> {
    TinyModel model = tiny_model(GetParam());
    TemporaryDirectory directory{model};

    std::vector<float> all(const RigOptions& options, const std::vector<TokenId>& tokens,
                           uint32_t chunk) {
        return Rig(directory.path, options).all(tokens, chunk);
    }
};

INSTANTIATE_TEST_SUITE_P(All, Architectures, ::testing::ValuesIn(tiny_model_types()),
                         [](const auto& test) { return test.param; });

// f32 chains of at most 400 terms, some 30 of them after one another: errors near 400 * 2^-24 = 2e-5
// of the largest logit's size, half of it where chains are at most 192 long.
void expect_the_papers_formulas(const TinyModel& model, const std::string& path,
                                double most_error = 1e-5) {
    const std::vector<TokenId> tokens = random_tokens(90, model.vocab_size, 3);
    RigOptions options;
    options.act = Act::f32;
    options.kv = KvType::f32;
    const std::vector<float> got = Rig(path, options).all(tokens, 16);
    const std::vector<Row> want = Oracle{model}.logits(tokens);
    double worst = 0, largest = 0;
    for (size_t t = 0; t < want.size(); ++t)
        for (size_t v = 0; v < want[t].size(); ++v) {
            worst = std::max(worst, std::fabs(double{got[t * model.vocab_size + v]} - want[t][v]));
            largest = std::max(largest, std::fabs(want[t][v]));
        }
    EXPECT_LT(worst, most_error * largest);
    EXPECT_GT(largest, 0.5);
}

TEST_P(Architectures, compute_their_papers_formulas) {
    expect_the_papers_formulas(model, directory.path);
}

// Chunks that straddle the window, the block and the attention's own chunk.
void expect_same_bits_in_any_chunks_threads_and_blocks(const std::string& path, uint32_t vocab_size,
                                                       KvType kv,
                                                       std::initializer_list<uint32_t> chunks) {
    const std::vector<TokenId> tokens = random_tokens(300, vocab_size, 5);
    const auto all = [&](RigOptions options, const std::vector<TokenId>& some, uint32_t chunk) {
        options.kv = kv;
        return Rig(path, options).all(some, chunk);
    };
    const std::vector<float> want = all({}, tokens, 300);
    const auto expect_same = [&](const RigOptions& options, uint32_t chunk) {
        const std::vector<float> got = all(options, tokens, chunk);
        ASSERT_EQ(got.size(), want.size());
        EXPECT_EQ(0, std::memcmp(got.data(), want.data(), 4 * got.size())) << "chunk " << chunk;
    };
    for (const uint32_t chunk : chunks) expect_same({}, chunk);
    for (const uint32_t n_threads : {2u, 3u}) {
        RigOptions options;
        options.n_threads = n_threads;
        options.block_tokens = 16;
        options.block_seed = n_threads;
        expect_same(options, 1);
        expect_same(options, 64);
    }
    for (const KernelTable* kernels : runnable_kernels()) {
        RigOptions options;
        options.kernels = kernels;
        expect_same(options, 128);
    }
}

TEST_P(Architectures, give_the_same_bits_in_any_chunks_threads_and_blocks) {
    expect_same_bits_in_any_chunks_threads_and_blocks(directory.path, model.vocab_size, KvType::f16,
                                                      {1, 13, 39, 40, 41, 257});
}

TEST_P(Architectures, give_the_same_bits_in_any_chunks_threads_and_blocks_of_q8) {
    expect_same_bits_in_any_chunks_threads_and_blocks(directory.path, model.vocab_size, KvType::q8,
                                                      {13, 41});
}

// Heads of any even width: KV and the kernels of attention have them filled up to vectors of 16.
struct HeadWidths : ::testing::TestWithParam<std::tuple<std::string, uint32_t>> {
    TinyModel model = tiny_model(std::get<0>(GetParam()), 1, std::get<1>(GetParam()));
    TemporaryDirectory directory{model};
};

std::string name_of(const ::testing::TestParamInfo<HeadWidths::ParamType>& test) {
    return std::get<0>(test.param) + "_" + std::to_string(std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(All, HeadWidths,
                         ::testing::Combine(::testing::ValuesIn(tiny_model_types()),
                                            ::testing::Values(2, 8, 10, 20, 24, 40, 80, 100)),
                         name_of);

// Some of them, for what takes longer.
struct HeadWidthBits : HeadWidths {};

INSTANTIATE_TEST_SUITE_P(Some, HeadWidthBits,
                         ::testing::Combine(::testing::Values("llama", "qwen3", "gemma3_text",
                                                              "gpt2"),
                                            ::testing::Values(10, 24, 100)),
                         name_of);

TEST_P(HeadWidths, compute_their_papers_formulas) {
    expect_the_papers_formulas(model, directory.path, 2e-5);
}

TEST_P(HeadWidthBits, are_the_same_in_any_chunks_threads_and_blocks) {
    for (const KvType kv : {KvType::f16, KvType::q8})
        expect_same_bits_in_any_chunks_threads_and_blocks(directory.path, model.vocab_size, kv,
                                                          {41});
}

TEST_P(HeadWidths, are_filled_up_to_16_in_kv) {
    ThreadPool pool(1);
    const auto loaded = load_model({directory.path, &kScalarKernels, Act::int8, &pool, {}});
    ASSERT_TRUE(loaded) << loaded.error().message;
    const uint32_t width = std::get<1>(GetParam()), stored = loaded->model->spec().kv.head_dim;
    EXPECT_EQ(stored % 16, 0u);
    EXPECT_GE(stored, width);
    EXPECT_LT(stored, width + 16);
}

// Scores lose a part in 250 of a key's or query's largest dimension, values as much.
TEST_P(Architectures, stay_near_their_float_logits_with_q8) {
    const std::vector<TokenId> tokens = random_tokens(90, model.vocab_size, 3);
    RigOptions options;
    options.act = Act::f32;
    options.kv = KvType::f32;
    const std::vector<float> want = all(options, tokens, 16);
    options.kv = KvType::q8;
    const std::vector<float> got = all(options, tokens, 16);
    double error = 0, power = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        error += std::pow(double{got[i]} - want[i], 2);
        power += std::pow(double{want[i]}, 2);
    }
    EXPECT_GT(error, 0.0);
    EXPECT_LT(std::sqrt(error / power), 0.03);
}

}  // namespace
}  // namespace kvik::testing
