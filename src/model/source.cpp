#include "model/source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "formats/gguf.h"
#include "formats/safetensors.h"
#include "model/gguf_config.h"
#include "model/gguf_tokenizer.h"
#include "model/hf_chat_templates.h"
#include "model/hf_config.h"
#include "model/hf_end_tokens.h"
#include "model/hf_tokenizer.h"

namespace kvik {
namespace {

// A tokenizer that this version cannot use is no reason against ids.
Result<void> read_tokenizer(Result<std::optional<TokenizerSpec>> read, ModelWords& words) {
    if (read) {
        words.tokenizer = std::move(*read);
        return {};
    }
    if (read.error().kind != ErrorKind::unsupported) return tl::unexpected<Error>(read.error());
    words.no_tokenizer = std::move(read).error();
    return {};
}

Result<ModelWords> words_of(const GgufMetadata& metadata) {
    ModelWords words;
    words.architecture = metadata.find_label("general.architecture").value_or("");
    KVIK_TRY(words.ends, end_tokens_from_gguf(metadata));
    KVIK_TRY_VOID(read_tokenizer(tokenizer_from_gguf(metadata), words));
    KVIK_TRY(words.chat_templates, chat_templates_from_gguf(metadata));
    return words;
}

Result<ModelWords> words_in(const std::string& directory, std::string architecture) {
    ModelWords words;
    words.architecture = std::move(architecture);
    KVIK_TRY(words.ends, end_tokens_from_hf(directory));
    KVIK_TRY_VOID(read_tokenizer(tokenizer_from_hf(directory), words));
    KVIK_TRY(words.chat_templates, chat_templates_from_hf(directory));
    return words;
}

}  // namespace

Result<ModelFormat> format_of_model(const std::string& path) {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0)
        return fail(ErrorKind::file, fmt::format("{}: {}", path, std::strerror(errno)));
    if (S_ISDIR(status.st_mode)) return ModelFormat::hugging_face;
    const std::string_view name = path;
    if (name.ends_with(".safetensors") || name.ends_with(".json"))
        return fail(ErrorKind::file,
                    fmt::format("{}: is one file of a model: give the directory that holds it, "
                                "with its config.json",
                                path));
    return ModelFormat::gguf;
}

Result<ModelWords> open_words(const std::string& path) {
    KVIK_TRY(const ModelFormat format, format_of_model(path));
    if (format == ModelFormat::gguf) {
        KVIK_TRY(const GgufFile file, GgufFile::open_first_part(path));
        return words_of(file.metadata());
    }
    // Text works without a configuration that kvik could run.
    const Result<ModelConfig> config = config_from_hf(path);
    if (!config && config.error().kind != ErrorKind::unsupported)
        return tl::unexpected<Error>(config.error());
    return words_in(path, config ? config->architecture : std::string());
}

Result<std::unique_ptr<Tokenizer>> take_tokenizer(ModelWords& words) {
    if (words.no_tokenizer) return tl::unexpected<Error>(*words.no_tokenizer);
    if (!words.tokenizer) return std::unique_ptr<Tokenizer>();
    return make_tokenizer(*std::exchange(words.tokenizer, std::nullopt));
}

Result<ModelSource> open_source(const std::string& path) {
    ModelSource source;
    KVIK_TRY(source.format, format_of_model(path));
    if (source.format == ModelFormat::hugging_face) {
        KVIK_TRY(source.config, config_from_hf(path));
        KVIK_TRY(source.words, words_in(path, source.config.architecture));
        KVIK_TRY(SafetensorsFile file, SafetensorsFile::open(path));
        source.tensors = std::make_unique<SafetensorsFile>(std::move(file));
        return source;
    }
    KVIK_TRY(GgufFile file, GgufFile::open(path));
    KVIK_TRY(source.config, config_from_gguf(file));
    KVIK_TRY(source.words, words_of(file.metadata()));
    source.tensors = std::make_unique<GgufFile>(std::move(file));
    return source;
}

}  // namespace kvik
