#include "hub/other_stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hub/file_names.h"
#include "hub/files.h"

namespace kvik::hub {
namespace {

constexpr uint32_t kDepthInRepository = 3;
constexpr size_t kCommitDigits = 40;

void add_files(const std::string& folder, const FileSet& set, LocalModel& model) {
    for (const std::string& file : set.files) {
        const auto facts = facts_of(folder + "/" + file);
        if (!facts) continue;
        model.bytes += facts->bytes;
        model.modified_s = std::max(model.modified_s, facts->modified_s);
        ++model.n_files;
    }
    if (set.n_missing > 0)
        model.problem =
            Error{ErrorKind::file,
                  fmt::format("{}/{}: {} of its {} parts are missing: fetch them too", folder,
                              set.first, set.n_missing, set.files.size() + set.n_missing)};
}

// What one repository's folder holds.
struct Contents {
    std::vector<FileSet> ggufs;    // each a model
    std::vector<FileSet> tensors;  // safetensors at the top: together one model
    bool has_config = false;
};

Result<Contents> look_into(const std::string& folder) {
    std::vector<std::string> ggufs, tensors;
    Contents contents;
    KVIK_TRY_VOID(walk_files(folder, kDepthInRepository, [&](const std::string& relative) {
        if (is_gguf_model(relative)) ggufs.push_back(relative);
        if (relative.find('/') != relative.npos) return;
        if (relative.ends_with(".safetensors")) tensors.push_back(relative);
        if (relative == "config.json") contents.has_config = true;
    }));
    contents.ggufs = group_parts(ggufs);
    contents.tensors = group_parts(tensors);
    return contents;
}

std::optional<LocalModel> directory_model(Store store, const std::string& folder,
                                          const Contents& contents) {
    if (!contents.has_config || contents.tensors.empty()) return std::nullopt;
    LocalModel model{.store = store, .path = folder, .is_directory = true};
    for (const FileSet& set : contents.tensors) add_files(folder, set, model);
    return model;
}

LocalModel gguf_model(Store store, const std::string& folder, const FileSet& set) {
    LocalModel model{
        .store = store, .path = folder + "/" + set.first, .quant = quant_of(set.first)};
    add_files(folder, set, model);
    return model;
}

std::string file_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// As LM Studio's own list has a repository: "qwen2.5-0.5b-instruct" for Qwen2.5-0.5B-Instruct-GGUF.
std::string key_of(const std::string& repository) {
    std::string key = lower(repository);
    constexpr std::string_view kEnd = "-gguf";
    if (key.ends_with(kEnd)) key.resize(key.size() - kEnd.size());
    return key;
}

void add_lmstudio(const std::string& root, const std::string& publisher,
                  const std::string& repository, const Contents& contents,
                  std::vector<LocalModel>& models) {
    const std::string whole = publisher + "/" + repository, folder = root + "/" + whole;
    const std::vector<std::string> groups = {whole, repository, key_of(repository),
                                             publisher + "/" + key_of(repository)};
    for (const FileSet& set : contents.ggufs) {
        LocalModel model = gguf_model(Store::lmstudio, folder, set);
        const std::string file = file_part(set.first);
        model.names = {whole + "/" + set.first, file, file.substr(0, file.rfind('.'))};
        if (!model.quant.empty())
            for (const std::string& group : groups)
                for (const char* mark : {":", "@"})
                    model.names.push_back(group + mark + model.quant);
        model.groups = groups;
        models.push_back(std::move(model));
    }
    if (auto model = directory_model(Store::lmstudio, folder, contents)) {
        model->names = groups;
        models.push_back(std::move(*model));
    }
}

// Commits by the names that refs/ has for them.
std::map<std::string, std::vector<std::string>> names_of_commits(const std::string& repository) {
    std::map<std::string, std::vector<std::string>> names;
    const auto see = [&](const std::string& ref) {
        auto commit = read_small_file(repository + "/refs/" + ref, 256);
        if (!commit) return;
        while (commit->ends_with('\n')) commit->pop_back();
        if (commit->size() == kCommitDigits) names[*commit].push_back(ref);
    };
    (void)walk_files(repository + "/refs", 2, see);
    return names;
}

// "OWNER/REPO" for what main is, or for the only snapshot; "OWNER/REPO@NAME" for others.
std::vector<std::string> snapshot_names(const std::string& name, const std::string& commit,
                                        const std::vector<std::string>& refs, bool is_default) {
    std::vector<std::string> names;
    if (is_default) names.push_back(name);
    for (const std::string& ref : refs) names.push_back(name + "@" + ref);
    names.push_back(name + "@" + commit);
    if (commit.size() == kCommitDigits) names.push_back(name + "@" + commit.substr(0, 12));
    const size_t n_names = names.size();
    for (size_t i = 0; i < n_names; ++i)
        for (const char* host : {"hf.co/", "huggingface.co/"}) names.push_back(host + names[i]);
    return names;
}

void add_snapshot(const std::string& folder, const std::vector<std::string>& snapshot,
                  const Contents& contents, std::vector<LocalModel>& models) {
    std::map<std::string, uint32_t> n_with_quant;
    for (const FileSet& set : contents.ggufs) ++n_with_quant[quant_of(set.first)];
    for (const FileSet& set : contents.ggufs) {
        LocalModel model = gguf_model(Store::huggingface, folder, set);
        const bool by_quant = !model.quant.empty() && n_with_quant[model.quant] == 1;
        for (const std::string& name : snapshot) {
            if (by_quant) model.names.push_back(name + ":" + model.quant);
            model.names.push_back(name + "/" + set.first);
            if (!by_quant && !model.quant.empty()) model.groups.push_back(name + ":" + model.quant);
        }
        model.groups.insert(model.groups.end(), snapshot.begin(), snapshot.end());
        models.push_back(std::move(model));
    }
    if (auto model = directory_model(Store::huggingface, folder, contents)) {
        model->names = snapshot;
        models.push_back(std::move(*model));
    }
}

// "models--OWNER--REPO" is OWNER/REPO, "models--gpt2" is gpt2.
std::optional<std::string> repository_name(std::string_view folder) {
    constexpr std::string_view kBefore = "models--";
    if (!folder.starts_with(kBefore)) return std::nullopt;
    std::string name(folder.substr(kBefore.size()));
    if (const size_t at = name.find("--"); at != name.npos) name.replace(at, 2, "/");
    if (name.empty()) return std::nullopt;
    return name;
}

}  // namespace

Result<void> find_lmstudio_models(const std::string& folder, std::vector<LocalModel>& models) {
    KVIK_TRY(const auto publishers, folders_in(folder));
    for (const std::string& publisher : publishers) {
        KVIK_TRY(const auto repositories, folders_in(folder + "/" + publisher));
        for (const std::string& repository : repositories) {
            KVIK_TRY(const Contents contents,
                     look_into(folder + "/" + publisher + "/" + repository));
            add_lmstudio(folder, publisher, repository, contents, models);
        }
    }
    return {};
}

Result<void> find_hf_models(const std::string& cache, std::vector<LocalModel>& models) {
    KVIK_TRY(const auto repositories, folders_in(cache));
    for (const std::string& one : repositories) {
        const auto name = repository_name(one);
        if (!name) continue;
        const std::string repository = cache + "/" + one;
        const auto refs = names_of_commits(repository);
        KVIK_TRY(const auto commits, folders_in(repository + "/snapshots"));
        const auto is_main = [&](const std::string& commit) {
            const auto found = refs.find(commit);
            return found != refs.end() && std::find(found->second.begin(), found->second.end(),
                                                    "main") != found->second.end();
        };
        const bool has_main = std::any_of(commits.begin(), commits.end(), is_main);
        for (const std::string& commit : commits) {
            const std::string folder = repository + "/snapshots/" + commit;
            KVIK_TRY(const Contents contents, look_into(folder));
            const bool is_default = has_main ? is_main(commit) : commits.size() == 1;
            const auto found = refs.find(commit);
            add_snapshot(
                folder,
                snapshot_names(*name, commit,
                               found != refs.end() ? found->second : std::vector<std::string>(),
                               is_default),
                contents, models);
        }
    }
    return {};
}

}  // namespace kvik::hub
