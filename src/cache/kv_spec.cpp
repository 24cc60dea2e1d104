#include "cache/kv_spec.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"

namespace kvik {

std::shared_ptr<const KvGroups> KvGroups::of(std::span<const uint32_t> windows) {
    KVIK_CHECK(!windows.empty(), "a model has layers");
    std::map<uint32_t, uint32_t> n_layers;  // by window
    const bool some_see_all = std::ranges::find(windows, 0u) != windows.end();
    const uint32_t widest = some_see_all ? 0 : std::ranges::max(windows);
    const auto kept = [&](uint32_t window) { return window == widest ? 0 : window; };
    for (const uint32_t window : windows) ++n_layers[kept(window)];
    auto out = std::make_shared<KvGroups>();
    for (const auto& [window, n] : n_layers) out->group_layers = std::gcd(out->group_layers, n);
    std::map<uint32_t, KvLayer> next;  // by window: the slot of its next layer
    for (const auto& [window, n] : n_layers) {
        next[window] = {.group = static_cast<uint32_t>(out->groups.size()), .slot = 0};
        out->groups.resize(out->groups.size() + n / out->group_layers, {.window = window});
    }
    for (const uint32_t window : windows) {
        KvLayer& at = next[kept(window)];
        out->layers.push_back(at);
        if (++at.slot == out->group_layers) at = {.group = at.group + 1, .slot = 0};
    }
    return out;
}

// A group with a window holds the blocks from the first that may be read to the last that is
// written.
uint64_t KvSpec::most_blocks(uint64_t n_tokens, uint32_t n_rows) const {
    const uint64_t n_logical_blocks = (n_tokens + block_tokens - 1) / block_tokens;
    uint64_t n = 0;
    for (uint32_t g = 0; g < n_groups(); ++g) {
        const uint64_t n_kept = uint64_t{window(g)} + kRewindTokens + n_rows;
        n += window(g) == 0 ? n_logical_blocks
                            : std::min(n_logical_blocks, n_kept / block_tokens + 2);
    }
    return n;
}

}  // namespace kvik
