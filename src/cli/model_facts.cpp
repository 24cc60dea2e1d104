#include "cli/model_facts.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "base/mapped_file.h"
#include "engine/engine_settings.h"
#include "formats/gguf.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "model/check.h"
#include "model/source.h"
#include "model/tied_lm_head.h"
#include "text/builtin_templates.h"

namespace kvik::cli {
namespace {

template <class T>
Json number(const GgufValue& value) {
    T read{};
    std::memcpy(&read, value.bytes.data(), sizeof read);
    return read;
}

Json scalar(const GgufValue& value) {
    if (value.is_array) return type_name(value) + " of " + std::to_string(value.n_elements);
    switch (value.type) {
        case GgufType::u8:
            return number<uint8_t>(value);
        case GgufType::i8:
            return number<int8_t>(value);
        case GgufType::u16:
            return number<uint16_t>(value);
        case GgufType::i16:
            return number<int16_t>(value);
        case GgufType::u32:
            return number<uint32_t>(value);
        case GgufType::i32:
            return number<int32_t>(value);
        case GgufType::f32:
            return number<float>(value);
        case GgufType::boolean:
            return number<uint8_t>(value) != 0;
        case GgufType::u64:
            return number<uint64_t>(value);
        case GgufType::i64:
            return number<int64_t>(value);
        case GgufType::f64:
            return number<double>(value);
        case GgufType::string:
            return label_of(
                {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()});
        case GgufType::array:
            break;
    }
    return type_name(value);
}

Json label_or_null(const GgufMetadata& metadata, std::string_view key) {
    const std::optional<std::string> label = metadata.find_label(key);
    return label ? Json(*label) : Json();
}

Json tensors_by_type(const TensorFile& file) {
    Json types = Json::object();
    for (const TensorEntry& tensor : file.tensors()) {
        Json& sum = types[std::string(dtype_info(tensor.dtype).name)];
        if (sum.is_null()) sum = {{"count", 0}, {"bytes", 0}};
        sum["count"] = sum["count"].get<uint64_t>() + 1;
        sum["bytes"] = sum["bytes"].get<uint64_t>() + tensor.n_bytes;
    }
    return types;
}

Json tensor_list(const TensorFile& file) {
    Json list = Json::array();
    for (const TensorEntry& tensor : file.tensors()) {
        const auto shape = std::span(tensor.shape.dims).first(tensor.shape.n_dims);
        list.push_back({{"name", tensor.name},
                        {"type", dtype_info(tensor.dtype).name},
                        {"shape", std::vector<uint64_t>(shape.begin(), shape.end())},
                        {"bytes", tensor.n_bytes},
                        {"offset", tensor.offset}});
    }
    return list;
}

// The arithmetic by which memory is taken at open.
Json memory_of(const ModelConfig& config, uint64_t weights_bytes) {
    KvSpec kv{.n_layers = config.n_layers,
              .n_kv_heads = config.n_kv_heads,
              .head_dim = config.padded_head_dim()};
    if (!config.windows.empty()) kv.groups = KvGroups::of(config.windows);
    const uint32_t context = std::min(config.context_length, kDefaultContext);
    const uint64_t context_bytes =
        kv.most_blocks(context, EngineOptions{}.ubatch) * kv.block_bytes();
    const uint64_t f16_bytes = kv.bytes_per_token();
    kv.type = KvType::f32;
    const uint64_t f32_bytes = kv.bytes_per_token();
    kv.type = KvType::q8;
    return {{"weights_bytes", weights_bytes},
            {"kv_bytes_per_token",
             {{"f16", f16_bytes}, {"f32", f32_bytes}, {"q8", kv.bytes_per_token()}}},
            {"default_context", context},
            {"kv_bytes_default_context", context_bytes},
            {"needed_bytes", weights_bytes + context_bytes}};
}

Json tokenizer_of(const ModelWords& words) {
    if (!words.tokenizer) return Json();
    const TokenizerSpec& spec = *words.tokenizer;
    const auto token = [&](std::optional<TokenId> id) {
        return id ? Json{{"id", *id}, {"text", spec.tokens[static_cast<size_t>(*id)]}} : Json();
    };
    return Json{{"model", spec.model},
                {"pre", spec.pre},
                {"n_tokens", spec.tokens.size()},
                {"n_merges", spec.merges.size()},
                {"add_bos", spec.add_bos},
                {"bos", token(spec.bos)},
                {"eos", token(spec.eos)},
                {"eot", token(spec.eot)}};
}

Json template_of(const ModelWords& words, const Tokenizer* tokenizer) {
    if (!words.chat_templates.empty()) {
        Json names = Json::array();
        const NamedTemplate* shown = &words.chat_templates.front();
        for (const NamedTemplate& each : words.chat_templates) {
            names.push_back(each.name);
            if (each.name == "default") shown = &each;
        }
        return {{"bytes", shown->source.size()}, {"text", shown->source}, {"names", names}};
    }
    if (tokenizer == nullptr) return Json();
    const auto* builtin = choose_builtin_template(words.architecture, *tokenizer);
    if (builtin == nullptr) return Json();
    return {
        {"bytes", builtin->source.size()}, {"text", builtin->source}, {"builtin", builtin->name}};
}

Json hyper_parameters_of(const GgufMetadata& metadata, const std::string& architecture) {
    Json hyper = Json::object();
    for (const GgufValue& value : metadata.values())
        if (value.key.starts_with(architecture + "."))
            hyper[std::string(value.key.substr(architecture.size() + 1))] = scalar(value);
    return hyper;
}

// The plain values of config.json, those of a nested text_config too.
void add_plain_values(const Json& object, Json& hyper) {
    for (const auto& [key, value] : object.items())
        if (value.is_number() || value.is_string() || value.is_boolean()) hyper[key] = value;
}

Result<Json> hyper_parameters_in(const std::string& directory) {
    const std::string path = directory + "/config.json";
    KVIK_TRY(const std::string text, read_whole_file(path, kMaxJsonBytes));
    KVIK_TRY(const Json config, kvik::parse_json(text, path));
    Json hyper = Json::object();
    add_plain_values(config, hyper);
    if (config.contains("text_config")) add_plain_values(config["text_config"], hyper);
    return hyper;
}

Json gguf_facts(const std::string& path, const GgufFile& file) {
    Json facts = {{"file", path},
                  {"format", "GGUF"},
                  {"version", file.version()},
                  {"file_bytes", file.n_bytes()},
                  {"alignment", file.alignment()}};
    facts["architecture"] = label_or_null(file.metadata(), "general.architecture");
    facts["name"] = label_or_null(file.metadata(), "general.name");
    return facts;
}

// What is the same for both formats, after what only one has.
Result<Json> complete(Json facts, const std::string& path, const TensorFile& file, Json hyper,
                      FactsDetail detail, Result<ModelSource> source) {
    uint64_t parameters = 0, weights_bytes = 0;
    for (const TensorEntry& tensor : file.tensors()) {
        parameters += tensor.shape.n_elements();
        weights_bytes += tensor.n_bytes;
    }
    facts["parameters"] = parameters;
    if (!source && source.error().kind != ErrorKind::unsupported)
        return tl::unexpected(source.error());
    if (source) KVIK_TRY_VOID(resolve_tied_head(*source, path));
    const auto needs = source ? check_model(*source, path) : tl::unexpected(source.error());
    facts["supported"] = needs.has_value();
    if (!needs) facts["unsupported"] = needs.error().message;
    facts["hyper_parameters"] = std::move(hyper);
    facts["tensors"] = tensors_by_type(file);
    if (detail == FactsDetail::every_tensor) facts["tensor_list"] = tensor_list(file);
    if (source)
        facts["memory"] = memory_of(source->config, needs ? needs->weight_bytes : weights_bytes);
    Result<ModelWords> words = source ? std::move(source->words) : open_words(path);
    if (!words) return tl::unexpected(std::move(words).error());
    facts["notes"] = source ? Json(source->notes) : Json::array();
    facts["tokenizer"] = tokenizer_of(*words);
    const auto tokenizer = take_tokenizer(*words);
    if (!tokenizer) facts["tokenizer"] = {{"unsupported", tokenizer.error().message}};
    facts["chat_template"] = template_of(*words, tokenizer ? tokenizer->get() : nullptr);
    return facts;
}

}  // namespace

Result<Json> model_facts(const std::string& path, FactsDetail detail) {
    KVIK_TRY(const ModelFormat format, format_of_model(path));
    if (format == ModelFormat::gguf) {
        KVIK_TRY(const GgufFile first, GgufFile::open_first_part(path));
        // A part of a split model that is missing is no reason not to show what is there.
        const Result<GgufFile> whole = GgufFile::open(path);
        const GgufFile& file = whole ? *whole : first;
        Json facts = gguf_facts(path, file);
        const std::string architecture =
            facts["architecture"].is_string() ? facts["architecture"].get<std::string>() : "";
        Json hyper = hyper_parameters_of(file.metadata(), architecture);
        return complete(
            std::move(facts), path, file, std::move(hyper), detail,
            whole ? open_source(path) : fail(ErrorKind::unsupported, whole.error().message));
    }
    KVIK_TRY(const SafetensorsFile file, SafetensorsFile::open(path));
    KVIK_TRY(Json hyper, hyper_parameters_in(path));
    uint64_t n_bytes = 0;
    for (const TensorEntry& tensor : file.tensors()) n_bytes += tensor.n_bytes;
    Json facts = {{"file", path}, {"format", "Hugging Face"}, {"file_bytes", n_bytes}};
    facts["architecture"] = hyper.contains("model_type") ? hyper["model_type"] : Json();
    facts["name"] = Json();
    return complete(std::move(facts), path, file, std::move(hyper), detail, open_source(path));
}

}  // namespace kvik::cli
