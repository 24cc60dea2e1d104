// Places: where other programs keep models on this machine, and where pulled ones go.
//
// Shape   from variables and the home folder, as these programs find them: Ollama (OLLAMA_MODELS,
//         else ~/.ollama/models; and the folder of its service), LM Studio (its home pointer and
//         settings, else ~/.lmstudio and ~/.cache/lm-studio), Hugging Face (HF_HUB_CACHE, HF_HOME,
//         XDG_CACHE_HOME, else ~/.cache/huggingface).
// Cost    two small files of LM Studio are read. A folder named here need not exist.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kvik::hub {

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct Places {
    std::vector<std::string> ollama, lmstudio;
    std::string hf_cache;  // empty: no home, and no variable names it
    std::string hf_token_file;
};

Places find_places(const Environment& environment);

// The value of a variable; an empty one counts as unset.
std::optional<std::string> value_of(const Environment& environment, const std::string& name);
// Whether a variable is set to 1, true, yes or on, in any case.
bool is_true(const Environment& environment, const std::string& name);

}  // namespace kvik::hub
