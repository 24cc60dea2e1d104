#include "formats/safetensors_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "formats/byte_cursor.h"
#include "formats/json.h"

namespace kvik {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnd = ".safetensors";
constexpr std::string_view kIndexEnd = ".safetensors.index.json";
constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr size_t kMaxFiles = 4096;

using Names = std::vector<std::string>;

// The names in the directory, ascending; none if it cannot be listed.
Names names_in(const std::string& directory) {
    Names names;
    std::error_code error;
    for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
        names.push_back(at->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Names ending_in(const Names& names, std::string_view end) {
    Names found;
    for (const std::string& name : names)
        if (name.size() > end.size() && name.ends_with(end)) found.push_back(name);
    return found;
}

bool has(const Names& names, std::string_view name) {
    return std::binary_search(names.begin(), names.end(), name);
}

// NAME-00001-of-00003.safetensors: the name in front and the number of parts.
using PartSet = std::pair<std::string, uint32_t>;

std::string part_name(const PartSet& set, uint32_t part) {
    return fmt::format("{}-{:05}-of-{:05}{}", set.first, part, set.second, kEnd);
}

std::optional<PartSet> set_of(const std::string& name) {
    constexpr size_t kMarkBytes = std::string_view("-00001-of-00003").size();
    const std::string_view stem = std::string_view(name).substr(0, name.size() - kEnd.size());
    if (stem.size() < kMarkBytes) return std::nullopt;
    const std::string_view mark = stem.substr(stem.size() - kMarkBytes);
    const auto number = [](std::string_view digits) {
        const bool all =
            std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
        return all ? static_cast<uint32_t>(std::atoi(std::string(digits).c_str())) : 0u;
    };
    const PartSet set = {std::string(stem.substr(0, stem.size() - kMarkBytes)),
                         number(mark.substr(10))};
    const uint32_t part = number(mark.substr(1, 5));
    if (part == 0 || part > set.second || part_name(set, part) != name) return std::nullopt;
    return set;
}

tl::unexpected<Error> no_weights(const std::string& directory, const Names& names) {
    if (!ending_in(names, ".gguf").empty())
        return fail(ErrorKind::file,
                    fmt::format("{}: has no safetensors file, but {}: name that file instead of "
                                "its directory",
                                directory, in_quotes(ending_in(names, ".gguf")[0])));
    for (const char* end : {".bin", ".pt", ".pth"})
        if (const Names old = ending_in(names, end); !old.empty())
            return fail(ErrorKind::file,
                        fmt::format("{}: has weights as {} alone, kvik reads safetensors and GGUF: "
                                    "save the model with safe_serialization, or get one that was",
                                    directory, in_quotes(old[0])));
    return fail(ErrorKind::file,
                fmt::format("{}: has neither {} nor {} nor another *{} file: give a directory with "
                            "one of them, or a GGUF file",
                            directory, kSingle, kIndex, kEnd));
}

// The parts of the only set, all of them; or nothing if no file is a part.
Result<Names> parts_of_set(const std::string& directory, const Names& files) {
    std::map<PartSet, uint32_t> sets;
    for (const std::string& file : files)
        if (const std::optional<PartSet> set = set_of(file)) ++sets[*set];
    if (sets.empty()) return Names();
    if (sets.size() > 1)
        return fail(ErrorKind::file,
                    fmt::format("{}: has parts of several models, {} and {}, and no index: keep "
                                "one model in a directory",
                                directory, in_quotes(part_name(sets.begin()->first, 1)),
                                in_quotes(part_name(std::next(sets.begin())->first, 1))));
    const PartSet& set = sets.begin()->first;
    Names parts;
    for (uint32_t part = 1; part <= set.second; ++part) {
        parts.push_back(part_name(set, part));
        if (!has(files, parts.back()))
            return fail(ErrorKind::file,
                        fmt::format("{}: {} is not there, part {} of {} of the model's weights: "
                                    "fetch it too",
                                    directory, in_quotes(parts.back()), part, set.second));
    }
    return parts;
}

}  // namespace

Result<SafetensorsFolder> find_safetensors(const std::string& directory) {
    const Names names = names_in(directory);
    if (has(names, kSingle)) return SafetensorsFolder{.files = {std::string(kSingle)}};
    if (has(names, kIndex)) return SafetensorsFolder{.index = std::string(kIndex), .files = {}};
    const Names indices = ending_in(names, kIndexEnd);
    if (indices.size() > 1)
        return fail(ErrorKind::file,
                    fmt::format("{}: has several indices, {} and {}: keep one model in a directory",
                                directory, in_quotes(indices[0]), in_quotes(indices[1])));
    if (indices.size() == 1) return SafetensorsFolder{.index = indices[0], .files = {}};

    Names files = ending_in(names, kEnd);
    const auto adapters = std::stable_partition(
        files.begin(), files.end(),
        [](const std::string& name) { return !name.starts_with("adapter_model"); });
    const bool has_adapter = adapters != files.end();
    files.erase(adapters, files.end());
    if (files.empty() && has_adapter)
        return fail(
            ErrorKind::unsupported,
            fmt::format("{}: holds an adapter, which kvik does not apply: merge it into its "
                        "base model and save that",
                        directory));
    if (files.empty()) return no_weights(directory, names);
    KVIK_TRY(Names parts, parts_of_set(directory, files));
    if (!parts.empty()) files = std::move(parts);
    if (files.size() > kMaxFiles)
        return fail(ErrorKind::file,
                    fmt::format("{}: has {} safetensors files, kvik reads {}: keep "
                                "one model in a directory",
                                directory, files.size(), kMaxFiles));
    return SafetensorsFolder{.index = {}, .files = std::move(files)};
}

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
