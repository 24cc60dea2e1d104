#include "hub/ollama.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/byte_cursor.h"
#include "formats/json.h"
#include "hub/file_names.h"
#include "hub/files.h"

namespace kvik::hub {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostLayerBytes = 1 << 20;  // of a manifest, a system message, parameters
constexpr size_t kMostLayers = 1024;
constexpr std::string_view kLayerKind = "application/vnd.ollama.image.";
constexpr std::string_view kOwnHost = "registry.ollama.ai", kOwnSpace = "library";

tl::unexpected<Error> broken(const std::string& file, std::string_view what) {
    return fail(ErrorKind::file,
                fmt::format("{}: {}: let Ollama fetch the model again (ollama pull)", file, what));
}

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// The hex digits of "sha256:HEX"; nothing else ever becomes a path.
Result<std::string> digest_of(const Json& layer, const std::string& file) {
    const std::string digest = text_of(layer, "digest");
    constexpr std::string_view kAlgorithm = "sha256:";
    const std::string hex = digest.starts_with(kAlgorithm) ? digest.substr(kAlgorithm.size()) : "";
    if (hex.size() != 64 || hex.find_first_not_of("0123456789abcdef") != hex.npos)
        return broken(
            file, fmt::format("the digest {} is not sha256 and 64 hex digits", in_quotes(digest)));
    return hex;
}

Result<void> take_layer(const Json& layer, const std::string& file, OllamaManifest& manifest) {
    if (!layer.is_object()) return broken(file, "a layer is no object");
    const std::string type = text_of(layer, "mediaType");
    const std::string kind = type.starts_with(kLayerKind) ? type.substr(kLayerKind.size()) : type;
    if (kind == "model") {
        if (!manifest.model.empty())
            return fail(ErrorKind::unsupported,
                        fmt::format("{}: has several files of weights, kvik takes one", file));
        KVIK_TRY(manifest.model, digest_of(layer, file));
        const auto size = layer.find("size");
        if (size != layer.end() && size->is_number_unsigned())
            manifest.model_bytes = size->get<uint64_t>();
        return {};
    }
    if (kind == "adapter" || kind == "projector")
        return fail(
            ErrorKind::unsupported,
            fmt::format(
                "{}: has {}, which this version cannot use: take a model without "
                "one, or a merged one",
                file, kind == "adapter" ? "an adapter (LoRA)" : "a projector (it sees pictures)"));
    if (kind == "tensor")
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: its weights are tensors in files of their own, kvik reads "
                                "GGUF: take a model of that format",
                                file));
    if (kind == "params") {
        KVIK_TRY(manifest.params, digest_of(layer, file));
    } else if (kind == "system") {
        KVIK_TRY(manifest.system, digest_of(layer, file));
    } else if (kind != "license") {
        manifest.ignored.push_back(kind);
    }
    return {};
}

// The name as `ollama list` has it first, then the others that mean the same.
std::vector<std::string> names_of(const std::string& host, const std::string& space,
                                  const std::string& model, const std::string& tag) {
    std::vector<std::string> before;
    if (host == kOwnHost && space == kOwnSpace) before.emplace_back("");
    if (host == kOwnHost) before.push_back(space + "/");
    before.push_back(host + "/" + space + "/");
    std::vector<std::string> names;
    for (const std::string& one : before) names.push_back(one + model + ":" + tag);
    if (tag == "latest")
        for (const std::string& one : before) names.push_back(one + model);
    return names;
}

// Without its tag a name may mean any of several.
std::vector<std::string> groups_of(const std::string& host, const std::string& space,
                                   const std::string& model) {
    if (host != kOwnHost) return {};
    std::vector<std::string> groups = {space + "/" + model};
    if (space == kOwnSpace) groups.push_back(model);
    return groups;
}

std::string blob_path(const std::string& folder, const std::string& hex) {
    const std::string path = fmt::format("{}/blobs/sha256-{}", folder, hex);
    const std::string former = fmt::format("{}/blobs/sha256:{}", folder, hex);  // until 2024
    return !facts_of(path) && facts_of(former) ? former : path;
}

// Of the store, above manifests/HOST/NAMESPACE/MODEL/TAG.
std::string folder_of(std::string manifest) {
    for (int i = 0; i < 5; ++i) manifest.resize(manifest.rfind('/'));
    return manifest;
}

// "Q4_K_M" out of the configuration layer; empty where it is not there.
std::string quant_in(const std::string& config_path) {
    const auto text = read_small_file(config_path, kMostLayerBytes);
    if (!text) return "";
    const auto config = parse_json(*text, config_path);
    const std::string type = config && config->is_object() ? text_of(*config, "file_type") : "";
    return quant_of(type);
}

Result<OllamaManifest> read_manifest(const std::string& path) {
    KVIK_TRY(const std::string text, read_small_file(path, kMostLayerBytes));
    return parse_ollama_manifest(text, path);
}

void describe_model(const std::string& folder, LocalModel& model) {
    const auto manifest = read_manifest(model.manifest);
    if (!manifest) {
        model.problem = manifest.error();
        return;
    }
    model.path = blob_path(folder, manifest->model);
    model.n_files = 1;
    model.bytes = manifest->model_bytes;
    if (!manifest->config.empty()) model.quant = quant_in(blob_path(folder, manifest->config));
    const auto facts = facts_of(model.path);
    if (facts) {
        model.bytes = facts->bytes;
    } else {
        model.problem = broken(model.path, "the file of the weights is missing").value();
    }
}

}  // namespace

Result<OllamaManifest> parse_ollama_manifest(std::string_view json, const std::string& file) {
    const auto parsed = parse_json(json, file);
    if (!parsed || !parsed->is_object()) return broken(file, "is no manifest in JSON");
    const auto layers = parsed->find("layers");
    if (layers == parsed->end() || !layers->is_array() || layers->size() > kMostLayers)
        return broken(file, "has no list of layers");
    OllamaManifest manifest;
    for (const Json& layer : *layers) KVIK_TRY_VOID(take_layer(layer, file, manifest));
    if (manifest.model.empty()) return broken(file, "names no file of weights");
    const auto config = parsed->find("config");
    if (config != parsed->end() && config->is_object()) {
        KVIK_TRY(manifest.config, digest_of(*config, file));
    }
    return manifest;
}

Result<void> find_ollama_models(const std::string& folder, std::vector<LocalModel>& models) {
    return walk_files(folder + "/manifests", 3, [&](const std::string& relative) {
        std::vector<std::string> parts;
        for (size_t at = 0; at <= relative.size();) {
            const size_t end = std::min(relative.find('/', at), relative.size());
            parts.push_back(relative.substr(at, end - at));
            at = end + 1;
        }
        if (parts.size() != 4) return;
        LocalModel model{.store = Store::ollama,
                         .names = names_of(parts[0], parts[1], parts[2], parts[3]),
                         .groups = groups_of(parts[0], parts[1], parts[2])};
        model.manifest = folder + "/manifests/" + relative;
        if (const auto facts = facts_of(model.manifest)) model.modified_s = facts->modified_s;
        describe_model(folder, model);
        models.push_back(std::move(model));
    });
}

namespace {

struct Known {
    std::string_view ollama, flag;
};
constexpr Known kKnown[] = {
    {"temperature", "temp"},
    {"top_k", "top-k"},
    {"top_p", "top-p"},
    {"min_p", "min-p"},
    {"repeat_penalty", "repeat-penalty"},
    {"presence_penalty", "presence-penalty"},
    {"frequency_penalty", "frequency-penalty"},
    {"seed", "seed"},
    {"num_ctx", "ctx"},
    {"num_predict", "n"},
    {"num_thread", "threads"},
    {"stop", "stop"},
};

// What Ollama takes where a model does not state it.
struct Usual {
    std::string_view value, flag;
};
constexpr Usual kUsual[] = {
    {"0.8", "temp"}, {"40", "top-k"}, {"0.9", "top-p"}, {"1.1", "repeat-penalty"}};

void add_usual(std::vector<ModelDefault>& settings) {
    for (const Usual& usual : kUsual) {
        const bool is_stated =
            std::any_of(settings.begin(), settings.end(),
                        [&](const ModelDefault& setting) { return setting.key == usual.flag; });
        if (!is_stated)
            settings.push_back(
                {.key = std::string(usual.flag), .values = {std::string(usual.value)}});
    }
}

// Those whose negative or zero value means "as usual".
bool asks_for_nothing(std::string_view key, const Json& value) {
    if (!value.is_number()) return false;
    const double number = value.get<double>();
    if (key == "num_ctx" || key == "num_thread") return number <= 0;
    return (key == "num_predict" || key == "seed" || key == "top_k") && number < 0;
}

std::optional<std::string> as_flag_text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number()) return value.dump();
    return std::nullopt;
}

}  // namespace

Result<OllamaDefaults> parse_ollama_params(std::string_view json, const std::string& file) {
    const auto parsed = parse_json(json, file);
    if (!parsed || !parsed->is_object()) return broken(file, "its parameters are no JSON object");
    OllamaDefaults defaults;
    for (const auto& item : parsed->items()) {
        const std::string& key = item.key();
        const Json& value = item.value();
        for (const Json& one : value.is_array() ? value : Json::array({value}))
            defaults.stated.push_back({key, as_flag_text(one).value_or(one.dump())});
        const auto* known =
            std::find_if(std::begin(kKnown), std::end(kKnown),
                         [&](const Known& known_one) { return known_one.ollama == key; });
        if (known == std::end(kKnown)) {
            defaults.not_used.push_back(key);
            continue;
        }
        if (asks_for_nothing(key, value)) continue;
        ModelDefault setting{.key = std::string(known->flag), .values = {}};
        const Json list = value.is_array() ? value : Json::array({value});
        for (const Json& one : list) {
            const auto text = as_flag_text(one);
            if (!text)
                return broken(file, fmt::format("the parameter {} is neither a number nor a text",
                                                in_quotes(key)));
            setting.values.push_back(*text);
        }
        if (!setting.values.empty()) defaults.settings.push_back(std::move(setting));
    }
    return defaults;
}

Result<OllamaDefaults> read_ollama_defaults(const LocalModel& model) {
    KVIK_TRY(const OllamaManifest manifest, read_manifest(model.manifest));
    const std::string folder = folder_of(model.manifest);
    OllamaDefaults defaults;
    if (!manifest.params.empty()) {
        const std::string path = blob_path(folder, manifest.params);
        KVIK_TRY(const std::string text, read_small_file(path, kMostLayerBytes));
        KVIK_TRY(defaults, parse_ollama_params(text, path));
    }
    add_usual(defaults.settings);
    if (!manifest.system.empty()) {
        KVIK_TRY(defaults.system,
                 read_small_file(blob_path(folder, manifest.system), kMostLayerBytes));
    }
    for (const std::string& kind : manifest.ignored) defaults.not_used.push_back(kind);
    return defaults;
}

}  // namespace kvik::hub
