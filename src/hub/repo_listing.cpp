#include "hub/repo_listing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "formats/json.h"
#include "hub/repo_request.h"

namespace kvik::hub {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostFiles = 100'000;

std::string hex_in(const Json& object, const char* key, size_t n_digits) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string()) return "";
    const auto& text = found->get_ref<const std::string&>();
    const bool is_hex = text.find_first_not_of("0123456789abcdef") == text.npos;
    return text.size() == n_digits && is_hex ? text : "";
}

uint64_t size_in(const Json& object) {
    const auto found = object.find("size");
    return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

}  // namespace

Result<RepoListing> parse_listing(std::string_view json, const std::string& address) {
    const auto broken = [&](std::string_view what) {
        return fail(ErrorKind::failed,
                    fmt::format("{}: {}: is HF_ENDPOINT a server that speaks as Hugging Face does?",
                                address, what));
    };
    const auto parsed = parse_json(json, address);
    if (!parsed || !parsed->is_object()) return broken("the answer is no JSON object");
    RepoListing listing{.commit = hex_in(*parsed, "sha", 40)};
    if (listing.commit.empty()) return broken("the answer names no commit");
    const auto siblings = parsed->find("siblings");
    if (siblings == parsed->end() || !siblings->is_array())
        return broken("the answer has no list of files");
    if (siblings->size() > kMostFiles)
        return broken(
            fmt::format("the answer lists {} files, the most is {}", siblings->size(), kMostFiles));
    std::set<std::string> names;
    for (const Json& entry : *siblings) {
        const auto name = entry.is_object() ? entry.find("rfilename") : entry.end();
        if (!entry.is_object() || name == entry.end() || !name->is_string() ||
            !is_safe_file_name(name->get_ref<const std::string&>()) ||
            !names.insert(*name).second) {
            ++listing.n_unsafe;
            continue;
        }
        RepoFile file{.name = *name, .bytes = size_in(entry)};
        const auto lfs = entry.find("lfs");
        if (lfs != entry.end() && lfs->is_object()) {
            file.sha256 = hex_in(*lfs, "sha256", 64);
            if (file.sha256.empty()) file.sha256 = hex_in(*lfs, "oid", 64);
            file.bytes = size_in(*lfs);
        } else {
            file.git_sha1 = hex_in(entry, "blobId", 40);
        }
        listing.files.push_back(std::move(file));
    }
    return listing;
}

}  // namespace kvik::hub
