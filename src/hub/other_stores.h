// The folders of LM Studio and of the Hugging Face cache.
//
// Shape   LM Studio: PUBLISHER/REPOSITORY/FILE.gguf, perhaps a folder deeper. Hugging Face:
//         models--OWNER--REPOSITORY/snapshots/COMMIT/FILE, links into blobs/, and refs/NAME, which
//         hold a commit. In both a folder with config.json and safetensors is a model too.
// Errors  ErrorKind::file: a folder that is there and cannot be read.
// Source  huggingface_hub 0.20 to 2.4, LM Studio 0.2 to 0.4.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hub/local_models.h"

namespace kvik::hub {

Result<void> find_lmstudio_models(const std::string& folder, std::vector<LocalModel>& models);
Result<void> find_hf_models(const std::string& cache, std::vector<LocalModel>& models);

}  // namespace kvik::hub
