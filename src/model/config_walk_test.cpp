// Every field of config.json left out, set to null, and set on each class that does not have it:
// logits as Transformers computes them (tests/golden/config/walk.json), or a refusal by name.
// tests/oracles/config_walk.py made the record, and says what is in it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/config.h"
#include "testing/model_rig.h"
#include "testing/safetensors_writer.h"
#include "testing/scratch_folder.h"

namespace kvik::testing {
namespace {

using Json = nlohmann::json;

// Float32 in another order moves a logit of these models, by up to some 1e-5 of their size;
// the smallest change that a field makes is over 1e-3.
constexpr float kTolerance = 1e-4f;

// What Transformers computes and kvik refuses, by name: the name of the field, or of the tensor that
// the class then does not have.
const char* const kRefusedHere[] = {
    "attention_bias",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "use_bidirectional_attention",
    "is_causal",
    "hidden_act",
    "hidden_activation",
    "activation_function",
    "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx",
    "add_cross_attention",
    "rope_type",
    "max_position_embeddings",
    // Out of the range that kvik takes.
    "rms_norm_eps",
    "layer_norm_epsilon",
    "'head_dim' is 1,",
    "heads of 384 dimensions",
    // Transformers passes a tensor over, or makes weights up where one is missing.
    "lm_head.weight",
    "model.layers",
    "transformer.h.1.",
    "transformer.h.2.",
};

float value_at(const std::string& name, uint64_t index) {
    uint64_t seed = 0xCBF29CE484222325;
    for (const char byte : name) seed = (seed ^ static_cast<uint8_t>(byte)) * 0x100000001B3;
    uint64_t x = seed + (index + 1) * 0x9E3779B97F4A7C15;  // splitmix64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    x ^= x >> 31;
    return (static_cast<float>(x >> 40) / static_cast<float>(1 << 23) - 1.0f) * 0.5f;
}

void write_tensor(SafetensorsWriter& writer, const std::string& name, const Json& dims) {
    std::vector<float> values(1);
    for (const uint64_t dim : dims) values.resize(values.size() * dim);
    for (size_t i = 0; i < values.size(); ++i) values[i] = value_at(name, i);
    writer.f32_tensor(name, dims.get<std::vector<uint64_t>>(), values);
}

// {} stands for the number of a layer.
void write_weights(const std::string& folder, const Json& shapes, uint32_t n_layers) {
    SafetensorsWriter writer;
    for (const auto& [name, dims] : shapes.items()) {
        const size_t at = name.find("{}");
        if (at == name.npos) write_tensor(writer, name, dims);
        for (uint32_t i = 0; at != name.npos && i < n_layers; ++i)
            write_tensor(writer, std::string(name).replace(at, 2, std::to_string(i)), dims);
    }
    ASSERT_TRUE(writer.write_directory(folder));
}

struct Outcome {
    std::vector<float> logits;  // of the last rows
    std::string refusal;
};

class Walk {
  public:
    explicit Walk(const Json& record)
        : record_(record), ids_(record["ids"].get<std::vector<TokenId>>()) {}

    struct Case {
        std::string kind, name, what;
        const Json& config;
    };
    void over(const Json& model) {
        const std::string where =
            model["class"].get<std::string>() + ", " + model["spelling"].get<std::string>();
        const Json& control = model["cases"][0];
        std::vector<float> own;
        logits_.clear();
        for (const Json& entry : model["cases"]) {
            const std::string what = where + ", " + entry[0].get<std::string>();
            const Json config = edited(model["config"], record_["edits"][entry[1].get<size_t>()]);
            write_for(entry[3], config);
            const Outcome outcome = run(config);
            if (own.empty()) own = outcome.logits;
            logits_[entry[0]] = outcome.logits;
            ++n_cases_;
            if (entry[2] == -1)
                hear_nothing({model["class"], entry[0], what, config}, outcome);
            else if (!outcome.refusal.empty())
                hear_refusal(outcome, what);
            else
                compare(entry, control, own, outcome, what);
        }
    }
    void tell() const {
        std::printf(
            "%zu cases: %zu with the logits of Transformers, %zu of these with the bits of the "
            "control; %zu refused by both, %zu by kvik alone, %zu by Transformers alone; %zu "
            "silent "
            "differences\n",
            n_cases_, n_equal_, n_bits_, n_refused_, n_here_, n_lenient_, n_different_);
    }
    size_t n_different() const { return n_different_; }
    size_t n_cases() const { return n_cases_; }

  private:
    static Json edited(Json config, const Json& edit) {
        for (const auto& [name, value] : edit["set"].items()) config[name] = value;
        for (const std::string name : edit["without"]) config.erase(name);
        return config;
    }
    // Weights are written again only where their shapes change.
    void write_for(const Json& number, const Json& config) {
        const Json n_layers = config.contains("n_layer")             ? config["n_layer"]
                              : config.contains("num_hidden_layers") ? config["num_hidden_layers"]
                                                                     : Json();
        if (number == shapes_) return;
        shapes_ = number;
        n_layers_ = n_layers.is_number() ? n_layers.get<uint32_t>() : n_layers_;
        write_weights(folder_.path(), record_["shapes"][number.get<size_t>()], n_layers_);
    }
    Outcome run(const Json& config) {
        std::ofstream(folder_.path("config.json")) << config.dump();
        ThreadPool pool(1);
        const auto loaded = load_model({folder_.path(), &kernels_, Act::f32, &pool, {}});
        if (!loaded) return {{}, loaded.error().message};
        // An engine refuses a prompt that is longer than the context.
        if (loaded->model->spec().context_length < ids_.size())
            return {{}, "max_position_embeddings"};
        RigOptions options;
        options.kernels = &kernels_;
        options.act = Act::f32;
        options.kv = KvType::f32;
        options.block_tokens = 16;
        Rig rig(folder_.path(), options);
        const std::vector<float> all = rig.all(ids_, 16);
        const size_t vocab = rig.model->spec().vocab_size;
        const size_t n_rows = record_["rows"], n_columns = record_["columns"];
        std::vector<float> rows;
        for (size_t r = ids_.size() - n_rows; r < ids_.size(); ++r)
            rows.insert(
                rows.end(), all.begin() + static_cast<ptrdiff_t>(r * vocab),
                all.begin() + static_cast<ptrdiff_t>(r * vocab + std::min(vocab, n_columns)));
        return {rows, ""};
    }
    void different(const std::string& what) {
        ++n_different_;
        ADD_FAILURE() << what;
    }
    // Transformers raised an error. What it stumbles over here is no part of the computation: then
    // kvik may compute, the same as without it.
    void hear_nothing(const Case& c, const Outcome& outcome) {
        if (!outcome.refusal.empty()) {
            ++n_refused_;
            return;
        }
        const std::string suffix = ", with layer_types";
        const bool is_foreign = (c.kind == "llama" && c.config.contains("layer_types")) ||
                                (c.kind == "gpt2" && (c.config.contains("layer_types") ||
                                                      c.name.starts_with("rope: ")));
        const bool is_null =
            c.kind == "ministral" &&
            (c.config.value("head_dim", Json()).is_null() || c.config["sliding_window"].is_null());
        const std::string twin =
            c.name.ends_with(suffix) ? c.name.substr(0, c.name.size() - suffix.size()) : "control";
        if (is_null || (is_foreign && outcome.logits == logits_.at(twin))) {
            ++n_lenient_;
            return;
        }
        different(c.what + ": computed, Transformers refuses");
    }
    void hear_refusal(const Outcome& outcome, const std::string& what) {
        ++n_here_;
        for (const char* name : kRefusedHere)
            if (outcome.refusal.find(name) != std::string::npos) return;
        different(what + ": refused, Transformers computes: " + outcome.refusal);
    }
    void compare(const Json& entry, const Json& control, const std::vector<float>& own,
                 const Outcome& outcome, const std::string& what) {
        const Json& want = record_["logits"][entry[2].get<size_t>()];
        float worst = 0, largest = 1;
        for (size_t i = 0; i < outcome.logits.size(); ++i)
            worst = std::max(worst, std::fabs(outcome.logits[i] - want[i].get<float>()));
        for (const float logit : want) largest = std::max(largest, std::fabs(logit));
        if (outcome.logits.size() != want.size() || !(worst < kTolerance * largest))
            return different(what + ": other logits by " + std::to_string(worst));
        ++n_equal_;
        if (entry[2] != control[2]) return;
        ++n_bits_;
        if (outcome.logits != own) different(what + ": other bits than the control's");
    }

    const Json& record_;
    const std::vector<TokenId> ids_;
    const KernelTable& kernels_ = *runnable_kernels().back();
    ScratchFolder folder_;
    Json shapes_;
    uint32_t n_layers_ = 0;
    std::map<std::string, std::vector<float>> logits_;  // by case, of the model at hand
    size_t n_cases_ = 0, n_equal_ = 0, n_bits_ = 0, n_refused_ = 0, n_here_ = 0, n_lenient_ = 0,
           n_different_ = 0;
};

TEST(ConfigWalk, every_field_left_out_and_every_foreign_one_as_transformers_has_it) {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/config/walk.json");
    ASSERT_TRUE(file.is_open());
    const Json record = Json::parse(file);
    Walk walk(record);
    for (const Json& model : record["models"]) walk.over(model);
    walk.tell();
    EXPECT_EQ(walk.n_different(), 0u);
    EXPECT_GT(walk.n_cases(), 3000u);
}

}  // namespace
}  // namespace kvik::testing
