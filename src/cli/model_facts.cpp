#include "cli/model_facts.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "cli/text_side.h"
#include "engine/settings.h"
#include "formats/gguf.h"
#include "model/arch/registry.h"
#include "model/gguf_config.h"
#include "model/gguf_tokenizer.h"

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
            return std::string(reinterpret_cast<const char*>(value.bytes.data()),
                               value.bytes.size());
        case GgufType::array:
            break;
    }
    return type_name(value);
}

Result<Json> string_or_null(const GgufMetadata& metadata, std::string_view key) {
    KVIK_TRY(const auto value, metadata.find_string(key));
    return value ? Json(*value) : Json();
}

Json tensors_by_type(const GgufFile& file) {
    Json types = Json::object();
    for (const TensorEntry& tensor : file.tensors()) {
        Json& sum = types[std::string(dtype_info(tensor.dtype).name)];
        if (sum.is_null()) sum = {{"count", 0}, {"bytes", 0}};
        sum["count"] = sum["count"].get<uint64_t>() + 1;
        sum["bytes"] = sum["bytes"].get<uint64_t>() + tensor.n_bytes;
    }
    return types;
}

Json tensor_list(const GgufFile& file) {
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
    KvSpec kv{
        .n_layers = config.n_layers, .n_kv_heads = config.n_kv_heads, .head_dim = config.head_dim};
    const uint64_t f16_bytes = kv.bytes_per_token();
    kv.type = KvType::f32;
    const uint32_t context = std::min(config.context_length, kDefaultContext);
    return {{"weights_bytes", weights_bytes},
            {"kv_bytes_per_token", {{"f16", f16_bytes}, {"f32", kv.bytes_per_token()}}},
            {"default_context", context},
            {"kv_bytes_default_context", context * f16_bytes},
            {"needed_bytes", weights_bytes + context * f16_bytes}};
}

Result<Json> tokenizer_of(const GgufMetadata& metadata) {
    KVIK_TRY(const auto spec, tokenizer_from_gguf(metadata));
    if (!spec) return Json();
    const auto token = [&](std::optional<TokenId> id) {
        return id ? Json{{"id", *id}, {"text", spec->tokens[static_cast<size_t>(*id)]}} : Json();
    };
    return Json{{"model", spec->model},
                {"pre", spec->pre},
                {"n_tokens", spec->tokens.size()},
                {"n_merges", spec->merges.size()},
                {"add_bos", spec->add_bos},
                {"bos", token(spec->bos)},
                {"eos", token(spec->eos)},
                {"eot", token(spec->eot)}};
}

Result<Json> template_of(const GgufMetadata& metadata) {
    KVIK_TRY(const auto own, chat_template_from_gguf(metadata));
    if (own) return Json{{"bytes", own->size()}};
    KVIK_TRY(auto spec, tokenizer_from_gguf(metadata));
    if (!spec) return Json();
    const auto tokenizer = make_tokenizer(std::move(*spec));
    if (!tokenizer) return Json();
    KVIK_TRY(const auto architecture, metadata.find_string("general.architecture"));
    const auto builtin = builtin_template_for(**tokenizer, std::string(architecture.value_or("")));
    return builtin ? Json{{"bytes", builtin->source.size()}, {"builtin", builtin->name}} : Json();
}

}  // namespace

Result<Json> model_facts(const std::string& path, FactsDetail detail) {
    KVIK_TRY(const GgufFile file, GgufFile::open(path));
    const GgufMetadata& metadata = file.metadata();
    Json facts = {{"file", path},
                  {"format", "GGUF"},
                  {"version", file.version()},
                  {"file_bytes", file.n_bytes()},
                  {"alignment", file.alignment()}};
    KVIK_TRY(facts["architecture"], string_or_null(metadata, "general.architecture"));
    KVIK_TRY(facts["name"], string_or_null(metadata, "general.name"));

    uint64_t parameters = 0, weights_bytes = 0;
    for (const TensorEntry& tensor : file.tensors()) {
        parameters += tensor.shape.n_elements();
        weights_bytes += tensor.n_bytes;
    }
    facts["parameters"] = parameters;
    const auto config = config_from_gguf(file);
    facts["supported"] = config.has_value();
    if (!config && config.error().kind != ErrorKind::unsupported)
        return tl::unexpected(config.error());
    if (!config) facts["unsupported"] = config.error().message;

    Json& hyper = facts["hyper_parameters"] = Json::object();
    const std::string prefix =
        facts["architecture"].is_string() ? facts["architecture"].get<std::string>() + "." : ".";
    for (const GgufValue& value : metadata.values())
        if (value.key.starts_with(prefix))
            hyper[std::string(value.key.substr(prefix.size()))] = scalar(value);

    facts["tensors"] = tensors_by_type(file);
    if (detail == FactsDetail::every_tensor) facts["tensor_list"] = tensor_list(file);
    if (config) facts["memory"] = memory_of(*config, weights_bytes);
    KVIK_TRY(facts["tokenizer"], tokenizer_of(metadata));
    KVIK_TRY(facts["chat_template"], template_of(metadata));
    return facts;
}

}  // namespace kvik::cli
