#include "formats/safetensors_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/byte_cursor.h"
#include "formats/json.h"

namespace kvik {
namespace {

constexpr size_t kMaxShards = 4096;
constexpr size_t kMaxShardNameBytes = 255;

tl::unexpected<Error> refuse(const std::string& file, std::string_view problem) {
    return fail(
        ErrorKind::file,
        fmt::format("{}: {}: the index is damaged or hostile, fetch it again", file, problem));
}

bool is_plain_file_name(std::string_view name) {
    const auto is_unfit = [](char c) { return c == '/' || c == '\\' || c < 0x20 || c > 0x7e; };
    return !name.empty() && name.size() <= kMaxShardNameBytes && name != "." && name != ".." &&
           std::none_of(name.begin(), name.end(), is_unfit);
}

}  // namespace

Result<SafetensorsIndex> read_safetensors_index(std::string_view text, const std::string& file) {
    if (text.size() > kMaxSafetensorsIndexBytes)
        return refuse(file, fmt::format("has {} bytes, the limit is {}", text.size(),
                                        kMaxSafetensorsIndexBytes));
    KVIK_TRY(const nlohmann::json root, parse_json(text, file));
    const auto map = root.is_object() ? root.find("weight_map") : root.end();
    if (map == root.end() || !map->is_object())
        return refuse(file, "'weight_map', an object from tensors to files, is missing");
    SafetensorsIndex index;
    for (const auto& [name, shard] : map->items()) {
        if (!shard.is_string())
            return refuse(file, fmt::format("'weight_map' of tensor {} is {}, it must be a string",
                                            in_quotes(name), shard.type_name()));
        const auto& shard_name = shard.get_ref<const std::string&>();
        if (!is_plain_file_name(shard_name))
            return refuse(file, fmt::format("'weight_map' of tensor {} is {}, it must be the name "
                                            "of a file in the same folder",
                                            in_quotes(name), in_quotes(shard_name)));
        index.shards.push_back(shard_name);
    }
    std::sort(index.shards.begin(), index.shards.end());
    index.shards.erase(std::unique(index.shards.begin(), index.shards.end()), index.shards.end());
    if (index.shards.size() > kMaxShards)
        return refuse(file, fmt::format("'weight_map' names {} files, the limit is {}",
                                        index.shards.size(), kMaxShards));
    for (const auto& [name, shard] : map->items()) {
        const auto at = std::lower_bound(index.shards.begin(), index.shards.end(),
                                         shard.get_ref<const std::string&>());
        index.tensors.push_back({name, static_cast<uint32_t>(at - index.shards.begin())});
    }
    std::sort(index.tensors.begin(), index.tensors.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return index;
}

}  // namespace kvik
