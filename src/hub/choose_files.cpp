#include "hub/choose_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/byte_cursor.h"
#include "hub/file_names.h"

namespace kvik::hub {
namespace {

constexpr std::string_view kUsualQuant = "Q4_K_M";
constexpr size_t kMostListed = 40;

using Sets = std::vector<FileSet>;

Sets ggufs_in(const RepoListing& listing) {
    std::vector<std::string> names;
    for (const RepoFile& file : listing.files)
        if (is_gguf_model(file.name)) names.push_back(file.name);
    return group_parts(names);
}

const RepoFile* find(const RepoListing& listing, const std::string& name) {
    const auto found = std::find_if(listing.files.begin(), listing.files.end(),
                                    [&](const RepoFile& file) { return file.name == name; });
    return found == listing.files.end() ? nullptr : &*found;
}

// "Q8_0 (1.2 GB), ...": by quantisation where that tells them apart, else by name.
std::string menu(const RepoListing& listing, const Sets& sets) {
    std::vector<std::string> lines;
    for (const FileSet& set : sets) {
        if (lines.size() == kMostListed) {
            lines.push_back(fmt::format("and {} more", sets.size() - kMostListed));
            break;
        }
        uint64_t bytes = 0;
        for (const std::string& file : set.files) bytes += find(listing, file)->bytes;
        const std::string quant = quant_of(set.first);
        const auto n_alike = std::count_if(sets.begin(), sets.end(), [&](const FileSet& other) {
            return quant_of(other.first) == quant;
        });
        const std::string how =
            quant.empty() || n_alike > 1 ? "/" + in_quotes(set.first) : ":" + quant;
        lines.push_back(fmt::format("{} ({:.2f} GB)", how, static_cast<double>(bytes) / 1e9));
    }
    return fmt::format("{}", fmt::join(lines, ", "));
}

Result<FileSet> the_one(const RepoListing& listing, const RepoRequest& request, const Sets& all) {
    Sets found;
    const std::string quant = request.quant.empty() ? std::string(kUsualQuant) : request.quant;
    for (const FileSet& set : all)
        if (lower(quant_of(set.first)) == lower(quant)) found.push_back(set);
    if (found.empty())
        for (const FileSet& set : all)
            if (has_quant(set.first, quant)) found.push_back(set);
    if (request.quant.empty() && all.size() == 1) found = all;
    if (found.size() == 1) return found.front();
    const Sets& shown = found.empty() ? all : found;
    return fail(ErrorKind::usage,
                fmt::format("{} has {} for {}, say which: hf:{} and one of {}", request.repository,
                            found.empty() ? "no GGUF" : "several GGUFs", quant, request.repository,
                            menu(listing, shown)));
}

ChosenFiles gguf_of(const RepoListing& listing, const RepoRequest& request, const FileSet& set,
                    const Sets& all) {
    ChosenFiles chosen{.first = set.first};
    for (const std::string& name : set.files) chosen.files.push_back(*find(listing, name));
    const std::string quant = quant_of(set.first);
    const auto n_alike = std::count_if(all.begin(), all.end(), [&](const FileSet& other) {
        return quant_of(other.first) == quant;
    });
    chosen.name = quant.empty() || n_alike > 1 ? request.repository + "/" + set.first
                                               : request.repository + ":" + quant;
    return chosen;
}

// What a directory of safetensors needs besides its weights.
bool is_text_side(const std::string& name) {
    constexpr std::string_view kNames[] = {"generation_config.json",
                                           "tokenizer.json",
                                           "tokenizer_config.json",
                                           "special_tokens_map.json",
                                           "added_tokens.json",
                                           "tokenizer.model",
                                           "vocab.json",
                                           "merges.txt",
                                           "chat_template.jinja",
                                           "chat_template.json",
                                           "model.safetensors.index.json"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
           (name.starts_with("additional_chat_templates/") && name.ends_with(".jinja"));
}

Result<ChosenFiles> directory_of(const RepoListing& listing, const RepoRequest& request) {
    const RepoFile* config = find(listing, "config.json");
    ChosenFiles chosen{.name = request.repository};
    bool has_weights = false;
    for (const RepoFile& file : listing.files) {
        const bool is_weights =
            file.name.find('/') == file.name.npos && file.name.ends_with(".safetensors");
        has_weights = has_weights || is_weights;
        if (is_weights || is_text_side(file.name)) chosen.files.push_back(file);
    }
    if (config == nullptr || !has_weights)
        return fail(ErrorKind::unsupported,
                    fmt::format("{} has neither a GGUF nor config.json with safetensors: take a "
                                "repository that has one of them",
                                request.repository));
    // A directory without it is no model yet, so that nothing takes half of one for a whole.
    chosen.files.push_back(*config);
    return chosen;
}

Result<ChosenFiles> file_of(const RepoListing& listing, const RepoRequest& request,
                            const Sets& all) {
    if (find(listing, request.file) == nullptr)
        return fail(ErrorKind::usage,
                    fmt::format("{} has no file {}{}", request.repository, in_quotes(request.file),
                                all.empty() ? "" : ", its GGUFs are " + menu(listing, all)));
    const auto part = part_of(request.file);
    const std::string first = part ? part->part(1) : request.file;
    for (const FileSet& set : all)
        if (set.first == first) return gguf_of(listing, request, set, all);
    return fail(
        ErrorKind::unsupported,
        fmt::format("{} of {} is no GGUF model: leave the file out to fetch the whole model",
                    in_quotes(request.file), request.repository));
}

}  // namespace

Result<ChosenFiles> choose_files(const RepoListing& listing, const RepoRequest& request) {
    const Sets all = ggufs_in(listing);
    Result<ChosenFiles> chosen;
    if (!request.file.empty()) {
        chosen = file_of(listing, request, all);
    } else if (!all.empty()) {
        KVIK_TRY(const FileSet set, the_one(listing, request, all));
        chosen = gguf_of(listing, request, set, all);
    } else if (!request.quant.empty()) {
        return fail(ErrorKind::usage, fmt::format("{} has no GGUF, so none for {}: leave it out",
                                                  request.repository, in_quotes(request.quant)));
    } else {
        chosen = directory_of(listing, request);
    }
    KVIK_TRY(ChosenFiles files, std::move(chosen));
    if (const auto part = part_of(files.first); part && part->count != files.files.size())
        return fail(ErrorKind::unsupported,
                    fmt::format("{}: {} of the {} parts of {} are missing: take another GGUF",
                                request.repository, part->count - files.files.size(), part->count,
                                in_quotes(files.first)));
    if (!request.revision.empty() && request.revision != "main")
        files.name.insert(request.repository.size(), "@" + request.revision);
    return files;
}

}  // namespace kvik::hub
