// docs/hostile-files.md is true: its table is what the readers and the loader say of every file
// that lies. And laws that hold for the loader, whatever the lie.
#include "testing/hostile_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "formats/gguf.h"
#include "formats/safetensors.h"
#include "kernels/select.h"
#include "model/hf_tokenizer.h"
#include "model/load.h"
#include "testing/counting_new.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace kvik {
namespace {

namespace fs = std::filesystem;
using Open = std::function<Result<void>(const std::string& path)>;

Result<void> open_gguf(const std::string& path) {
    return GgufFile::open(path).map([](const GgufFile&) {});
}

Result<void> open_weights(const std::string& path) {
    return open_safetensors(path).map([](const std::unique_ptr<TensorFile>&) {});
}

// As far as whoever gives a model a text goes before the first token.
Result<void> open_model(const std::string& path) {
    ThreadPool pool(1);
    KVIK_TRY(LoadedModel loaded, load_model({path, &kScalarKernels, Act::int8, &pool, {}}));
    if (loaded.words.no_tokenizer) return tl::unexpected<Error>(*loaded.words.no_tokenizer);
    if (loaded.words.tokenizer) KVIK_TRY_VOID(make_tokenizer(std::move(*loaded.words.tokenizer)));
    for (NamedTemplate& each : loaded.words.chat_templates)
        KVIK_TRY_VOID(ChatTemplate::compile(std::move(each.source)));
    return {};
}

Result<void> open_tokenizer(const std::string& path) {
    KVIK_TRY(std::optional<TokenizerSpec> spec, tokenizer_from_hf(path));
    if (spec) KVIK_TRY_VOID(make_tokenizer(std::move(*spec)));
    return {};
}

struct Refusal {
    Error error;  // without the folder's name
    uint64_t n_allocated = 0;
};

// What is said of the file, or nothing if it was accepted.
std::optional<Refusal> refusal_of(const HostileFile& file, const Open& open) {
    const std::string folder =
        fmt::format("{}kvik_hostile_files_{}", testing::TempDir(), ::getpid());
    fs::remove_all(folder);
    fs::create_directory(folder);
    const std::string path = write_files(file, folder);
    Refusal refusal;
    {
        const CountedBytes counted;
        Result<void> opened = open(path);
        refusal.n_allocated = counted.total();
        if (opened) return std::nullopt;
        refusal.error = std::move(opened).error();
    }
    fs::remove_all(folder);
    std::string& message = refusal.error.message;
    for (const std::string& prefix : {folder + "/", folder})
        for (size_t at; (at = message.find(prefix)) != std::string::npos;)
            message.replace(at, prefix.size(), prefix.size() > folder.size() ? "" : "model");
    return refusal;
}

struct Told {
    HostileFile file;
    std::optional<Refusal> refusal;
};

// Told once, for all tests.
const std::vector<Told>& all_told() {
    static const std::vector<Told> all = [] {
        std::vector<Told> told;
        const auto tell = [&](std::vector<HostileFile> files, const Open& open) {
            for (HostileFile& file : files) {
                std::optional<Refusal> refusal = refusal_of(file, open);
                told.push_back({std::move(file), std::move(refusal)});
            }
        };
        tell(hostile_ggufs(), open_gguf);
        tell(hostile_safetensors(), open_weights);
        tell(hostile_models(), open_model);
        tell(hostile_tokenizers(), open_tokenizer);
        return told;
    }();
    return all;
}

std::string table(const std::vector<Told>& all) {
    std::string text, about;
    for (const Told& told : all) {
        if (told.file.about != about) {
            about = told.file.about;
            text +=
                fmt::format("\n## {}\n\n| it says | kvik says | status |\n|---|---|---|\n", about);
        }
        if (told.refusal)
            text += fmt::format("| {} | `{}` | {} |\n", told.file.lie, told.refusal->error.message,
                                static_cast<int>(told.refusal->error.kind));
    }
    return text;
}

TEST(HostileFiles, each_is_refused_in_one_printable_line_with_the_status_of_a_file) {
    for (const Told& told : all_told()) {
        SCOPED_TRACE(told.file.about + ": " + told.file.lie);
        EXPECT_TRUE(told.refusal);
        if (!told.refusal) continue;
        const Error& error = told.refusal->error;
        EXPECT_TRUE(error.kind == ErrorKind::file || error.kind == ErrorKind::unsupported);
        EXPECT_LT(error.message.size(), 500u) << error.message;
        for (const char c : error.message) EXPECT_TRUE(c >= 0x20 && c <= 0x7e) << error.message;
    }
}

TEST(HostileFiles, masks_beside_the_weights_are_no_reason_to_refuse_a_model) {
    const std::optional<Refusal> refusal = refusal_of(harmless_directory(), open_model);
    EXPECT_FALSE(refusal) << refusal->error.message;
}

TEST(HostileFiles, none_makes_the_loader_allocate_what_it_does_not_justify) {
    for (const Told& told : all_told()) {
        SCOPED_TRACE(told.file.about + ": " + told.file.lie);
        if (!told.refusal) continue;
        uint64_t n_bytes = 0;
        for (const HostileFile::Part& part : told.file.parts) n_bytes += part.bytes.size();
        EXPECT_LT(told.refusal->n_allocated, (4 << 20) + 16 * n_bytes);
    }
}

TEST(HostileFiles, the_document_has_every_case_with_its_message_and_status) {
    const std::string path = KVIK_SOURCE_DIR "/docs/hostile-files.md";
    std::ifstream in(path);
    const std::string document{std::istreambuf_iterator<char>(in), {}};
    const size_t begin = document.find("\n## GGUF: header\n");
    ASSERT_NE(begin, std::string::npos) << path << " has no table";
    const std::string expected = document.substr(0, begin) + table(all_told());
    if (document == expected) return;
    const std::string fresh = testing::TempDir() + "hostile-files.md";
    std::ofstream(fresh) << expected;
    ADD_FAILURE() << path << " is not what is said; that is in " << fresh;
}

}  // namespace
}  // namespace kvik
