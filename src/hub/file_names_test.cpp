#include "hub/file_names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kvik::hub {
namespace {

TEST(FileNames, the_quantisation_is_read_from_the_names_that_people_give) {
    const std::pair<const char*, const char*> cases[] = {
        {"qwen2.5-0.5b-instruct-q4_k_m.gguf", "Q4_K_M"},
        {"SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"},
        {"tinyllama_q4_0.gguf", "Q4_0"},
        {"Llama-3.2-1B-Instruct-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"},
        {"UD-IQ1_S/big-UD-IQ1_S-00001-of-00003.gguf", "UD-IQ1_S"},
        {"Q8_0/model-Q8_0-00001-of-00002.gguf", "Q8_0"},
        {"gpt-oss-20b-mxfp4.gguf", "MXFP4"},
        {"model-TQ1_0.gguf", "TQ1_0"},
        {"model-f16.gguf", "F16"},
        {"model.bf16.gguf", "BF16"},
        {"model-IQ4_NL.gguf", "IQ4_NL"},
        {"model-Q4_0_4_4.gguf", "Q4_0_4_4"},
        {"model.gguf", ""},
        {"Qwen-7B.gguf", ""},
        {"Q.gguf", ""},
        {"q4_something.gguf", ""},
        {"", ""},
    };
    for (const auto& [file, quant] : cases) EXPECT_EQ(quant_of(file), quant) << file;
}

TEST(FileNames, a_quantisation_is_found_as_a_word_of_its_own) {
    EXPECT_TRUE(has_quant("a-Q4_K_M.gguf", "q4_k_m"));
    EXPECT_TRUE(has_quant("a.q4_0.gguf", "Q4_0"));
    EXPECT_TRUE(has_quant("a_q4_0.gguf", "Q4_0"));
    EXPECT_TRUE(has_quant("UD-Q4_K_XL/a-UD-Q4_K_XL.gguf", "ud-q4_k_xl"));
    EXPECT_FALSE(has_quant("a-Q4_K_M.gguf", "Q4_K"));
    EXPECT_FALSE(has_quant("a-IQ4_NL.gguf", "Q4_NL"));
    EXPECT_FALSE(has_quant("a-BF16.gguf", "F16"));
    EXPECT_FALSE(has_quant("a.gguf", "Q4_0"));
    EXPECT_FALSE(has_quant("a.gguf", ""));
}

TEST(FileNames, parts_are_told_apart_from_whole_files) {
    const auto part = part_of("dir/a-00002-of-00003.gguf");
    ASSERT_TRUE(part);
    EXPECT_EQ(part->before, "dir/a");
    EXPECT_EQ(part->index, 2u);
    EXPECT_EQ(part->count, 3u);
    EXPECT_EQ(part->part(1), "dir/a-00001-of-00003.gguf");
    EXPECT_TRUE(part_of("model-00001-of-00001.safetensors"));
    for (const char* name :
         {"a.gguf", "a-00000-of-00003.gguf", "a-00004-of-00003.gguf", "a-0001-of-0003.gguf",
          "a-00001-of-99999.gguf", "-of-00003.gguf", "a-00001-of-0000x.gguf", ".gguf", ""})
        EXPECT_FALSE(part_of(name)) << name;
}

TEST(FileNames, parts_are_one_model_and_what_is_missing_is_counted) {
    const std::vector<std::string> files = {"b-00003-of-00003.gguf", "a.gguf",
                                            "b-00001-of-00003.gguf"};
    const auto sets = group_parts(files);
    ASSERT_EQ(sets.size(), 2u);
    EXPECT_EQ(sets[0].first, "a.gguf");
    EXPECT_EQ(sets[0].n_missing, 0u);
    EXPECT_EQ(sets[1].first, "b-00001-of-00003.gguf");
    EXPECT_EQ(sets[1].files.size(), 2u);
    EXPECT_EQ(sets[1].n_missing, 1u);
}

TEST(FileNames, projectors_and_importance_matrices_are_no_models) {
    EXPECT_TRUE(is_gguf_model("dir/a.GGUF"));
    EXPECT_FALSE(is_gguf_model("mmproj-model-f16.gguf"));
    EXPECT_FALSE(is_gguf_model("a/model.mmproj-Q8_0.gguf"));
    EXPECT_FALSE(is_gguf_model("imatrix_unsloth.gguf"));
    EXPECT_TRUE(is_gguf_model("mmproj-stuff/a.gguf"));
    EXPECT_FALSE(is_gguf_model("a.gguf.part"));
}

}  // namespace
}  // namespace kvik::hub
