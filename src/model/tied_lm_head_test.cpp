// Where config.json and the file of weights say two things of the head, and of the sizes.
#include "model/tied_lm_head.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/expect_error.h"
#include "testing/model_rig.h"
#include "testing/scratch_folder.h"
#include "testing/tiny_models.h"

namespace kvik::testing {
namespace {

using Json = nlohmann::json;

const std::vector<TokenId> kTokens = {5, 9, 33, 70};

TinyModel tied_model(const char* type) {
    TinyModel model = tiny_model(type);
    Json config = Json::parse(model.config);
    config["tie_word_embeddings"] = true;
    model.config = config.dump();
    model.tensors.erase("lm_head.weight");
    return model;
}

const char* embedding_of(const TinyModel& model) {
    return model.type == "gpt2" ? "transformer.wte.weight" : "model.embed_tokens.weight";
}

TinyModel::Tensor reversed(TinyModel::Tensor tensor) {
    std::ranges::reverse(tensor.values);
    return tensor;
}

std::vector<float> logits_of(const TinyModel& model, const ScratchFolder& folder) {
    EXPECT_TRUE(model.write(folder.path()));
    RigOptions options;
    options.act = Act::f32;
    options.kv = KvType::f32;
    return Rig(folder.path(), options).all(kTokens, 16);
}

std::vector<std::string> notes_of(const ScratchFolder& folder) {
    ThreadPool pool(1);
    const auto loaded = load_model({folder.path(), &kScalarKernels, Act::f32, &pool, {}});
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? loaded->notes : std::vector<std::string>();
}

// The untied model with the same head is the oracle: of it the head is read as ever.
TEST(TiedHead, a_head_that_differs_from_the_embedding_counts_and_a_note_says_so) {
    for (const char* type : {"llama", "qwen2", "qwen3", "mistral", "gemma3_text", "gpt2"}) {
        const ScratchFolder folder;
        TinyModel model = tied_model(type);
        const TinyModel::Tensor embedding = model.tensor(embedding_of(model));
        const std::vector<float> tied = logits_of(model, folder);
        EXPECT_TRUE(notes_of(folder).empty());
        model.tensors["lm_head.weight"] = embedding;
        EXPECT_EQ(logits_of(model, folder), tied) << type;
        EXPECT_TRUE(notes_of(folder).empty());
        model.tensors["lm_head.weight"] = reversed(embedding);
        const std::vector<float> own = logits_of(model, folder);
        EXPECT_NE(own, tied) << type;
        const std::vector<std::string> notes = notes_of(folder);
        ASSERT_EQ(notes.size(), 1u);
        EXPECT_NE(notes[0].find("another lm_head.weight"), std::string::npos) << notes[0];
        Json config = Json::parse(model.config);
        config["tie_word_embeddings"] = false;
        model.config = config.dump();
        EXPECT_EQ(own, logits_of(model, folder)) << type;
        EXPECT_TRUE(notes_of(folder).empty());
    }
}

// Every size that config.json gives and the shapes of the tensors give again: by name, at load.
TEST(TiedHead, a_size_that_the_tensors_contradict_is_refused) {
    for (const auto& [field, value, tensor] :
         {std::tuple{"vocab_size", 50, "model.embed_tokens.weight"},
          {"vocab_size", 90, "model.embed_tokens.weight"},
          {"hidden_size", 32, "input_layernorm.weight"},
          {"intermediate_size", 32, "mlp.gate_proj.weight"},
          {"num_attention_heads", 2, "self_attn.q_proj.weight"},
          {"num_key_value_heads", 1, "self_attn.k_proj.weight"},
          {"head_dim", 32, "self_attn.q_proj.weight"},
          {"num_hidden_layers", 4, "model.layers.3."},
          {"num_hidden_layers", 2, "model.layers.2."}}) {
        const ScratchFolder folder;
        TinyModel model = tiny_model("llama");
        Json config = Json::parse(model.config);
        config[field] = value;
        model.config = config.dump();
        ASSERT_TRUE(model.write(folder.path()));
        ThreadPool pool(1);
        const auto loaded = load_model({folder.path(), &kScalarKernels, Act::f32, &pool, {}});
        ASSERT_FALSE(loaded) << field << " " << value;
        EXPECT_NE(loaded.error().message.find(tensor), std::string::npos) << loaded.error().message;
    }
}

// A bias or a norm that the class does not have: Transformers passes it over, its weights say that
// it was meant.
TEST(TiedHead, a_tensor_that_the_class_does_not_have_is_refused) {
    for (const auto& [type, name, n] : {std::tuple{"llama", "self_attn.q_proj.bias", 64},
                                        {"llama", "self_attn.q_norm.weight", 16},
                                        {"llama", "mlp.up_proj.bias", 96},
                                        {"mistral", "self_attn.o_proj.bias", 64},
                                        {"qwen2", "self_attn.o_proj.bias", 64},
                                        {"qwen3", "self_attn.k_proj.bias", 64},
                                        {"gemma3_text", "self_attn.q_proj.bias", 64}}) {
        const ScratchFolder folder;
        TinyModel model = tiny_model(type);
        model.tensors[std::string("model.layers.1.") + name] = {
            {static_cast<uint64_t>(n)}, std::vector<float>(static_cast<size_t>(n), 0.1f)};
        ASSERT_TRUE(model.write(folder.path()));
        ThreadPool pool(1);
        const auto loaded = load_model({folder.path(), &kScalarKernels, Act::f32, &pool, {}});
        ASSERT_FALSE(loaded) << type << " " << name;
        EXPECT_NE(loaded.error().message.find(name), std::string::npos) << loaded.error().message;
    }
    const ScratchFolder folder;  // what the class needs is missing
    TinyModel model = tiny_model("qwen3");
    model.tensors.erase("model.layers.1.self_attn.q_norm.weight");
    ASSERT_TRUE(model.write(folder.path()));
    ThreadPool pool(1);
    const auto loaded = load_model({folder.path(), &kScalarKernels, Act::f32, &pool, {}});
    ASSERT_FALSE(loaded);
    EXPECT_NE(loaded.error().message.find("q_norm.weight"), std::string::npos);
}

}  // namespace
}  // namespace kvik::testing
