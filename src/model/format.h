// Whose names and conventions a model's files follow.
#pragma once

#include <cstdint>

namespace kvik {

enum class ModelFormat : uint8_t { gguf, hugging_face };

}  // namespace kvik
