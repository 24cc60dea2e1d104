#include "model/arch/registry.h"

#include "model/arch/llama.h"

namespace kvik {
namespace {

constexpr Architecture kArchitectures[] = {
    {{"llama", RopeLayout::adjacent}, plan_llama},
};

}  // namespace

std::vector<GgufArchitecture> gguf_architectures() {
    std::vector<GgufArchitecture> known;
    for (const Architecture& architecture : kArchitectures) known.push_back(architecture.gguf);
    return known;
}

const Architecture* find_architecture(std::string_view name) {
    for (const Architecture& architecture : kArchitectures)
        if (architecture.gguf.name == name) return &architecture;
    return nullptr;
}

}  // namespace kvik
