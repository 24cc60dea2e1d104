// Ollama's store: manifests/HOST/NAMESPACE/MODEL/TAG name layers, each a file blobs/sha256-HEX.
//
// Shape   taken: the GGUF (image.model), the parameters (image.params), the system message
//         (image.system). Not used: Ollama's own template (the GGUF's is), example messages. An
//         adapter, a projector and models cut into tensors are refused by name.
// Errors  ErrorKind::file: a manifest or blob that is damaged or missing; unsupported: a layer that
//         changes what the model computes and that kvik has not.
// Source  what Ollama 0.1 to 0.12 write; defaults: Ollama's documentation of Modelfiles, PARAMETER. A digest is used only if it is sha256 and 64 hex digits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/local_models.h"

namespace kvik::hub {

struct OllamaManifest {
    std::string model, config;         // digests, 64 hex digits; config may be empty
    std::string params, system;        // empty: there is no such layer
    std::vector<std::string> ignored;  // kinds of layers that are not used: "template"
    uint64_t model_bytes = 0;
};

// `file` is for messages.
Result<OllamaManifest> parse_ollama_manifest(std::string_view json, const std::string& file);

// All models of one store, appended to `models`.
Result<void> find_ollama_models(const std::string& folder, std::vector<LocalModel>& models);

// A default that the model comes with: a flag's name without dashes, and its value or values.
struct ModelDefault {
    std::string key;
    std::vector<std::string> values;
};

// A parameter as the manifest states it, by Ollama's name; "stop" may come several times.
struct OllamaParameter {
    std::string name, value;
};

struct OllamaDefaults {
    std::vector<OllamaParameter> stated;
    std::vector<ModelDefault> settings;
    std::vector<std::string> not_used;  // parameters without an equivalent, and kinds of layers
    std::string system;                 // empty: none
};

// The layers of a model that find_ollama_models found. Temperature, top_k, top_p and repeat_penalty
// that the model does not state are Ollama's own defaults: without these small models repeat
// themselves, and whoever takes a model of Ollama's expects its answers.
Result<OllamaDefaults> read_ollama_defaults(const LocalModel& model);
// Of a params layer. What asks for nothing (num_predict -1) is left out.
Result<OllamaDefaults> parse_ollama_params(std::string_view json, const std::string& file);

}  // namespace kvik::hub
