// A NaN in whichever tensor of whichever architecture: a step that meets it says where it is.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "model/check.h"
#include "testing/model_rig.h"
#include "testing/tiny_models.h"

namespace kvik::testing {
namespace {

// What a step says of the model, or nothing; `logits` are its last row.
std::string error_of(const TinyModel& model, std::vector<float>& logits) {
    const std::string path =
        ::testing::TempDir() + "kvik_find_damage_" + std::to_string(::getpid());
    std::filesystem::create_directories(path);
    EXPECT_TRUE(model.write(path));
    Rig rig(path, {});
    const auto got = rig.step({{0, 0, {1, 2, 3}}});
    std::filesystem::remove_all(path);
    if (!got) return got.error().message;
    logits = *got;
    return "";
}

TEST(FindDamage, a_nan_in_any_tensor_is_named_or_comes_out_in_the_logits) {
    uint32_t n_tensors = 0;
    for (const std::string& type : tiny_model_types()) {
        const TinyModel sound = tiny_model(type);
        for (const auto& [name, tensor] : sound.tensors) {
            SCOPED_TRACE(type + " " + name);
            TinyModel model = sound;
            // The rows of the tokens and positions that are computed.
            for (float& value : model.tensors.at(name).values)
                value = std::numeric_limits<float>::quiet_NaN();
            std::vector<float> logits;
            const std::string error = error_of(model, logits);
            ++n_tensors;
            if (error.empty()) {
                EXPECT_TRUE(name == "lm_head.weight") << "only the head is met by no norm";
                EXPECT_FALSE(std::isfinite(logits[0]));
                continue;
            }
            EXPECT_NE(error.find("kvik show --check"), std::string::npos) << error;
            const size_t at = name.find(".layers."), h = name.find(".h.");
            if (at != name.npos || h != name.npos) {
                const std::string layer = name.substr(at != name.npos ? at + 8 : h + 3, 1);
                EXPECT_NE(error.find(" of layer " + layer), std::string::npos) << error;
            }
        }
    }
    EXPECT_GT(n_tensors, 150u);
}

}  // namespace
}  // namespace kvik::testing
