#include "cli/flags/model_word.h"

#include <unistd.h>

namespace kvik::cli {

bool may_be_model(const std::string& word) {
    if (word.find_first_of("/:") != std::string::npos || word.ends_with(".gguf")) return true;
    return ::access(word.c_str(), F_OK) == 0;
}

}  // namespace kvik::cli
