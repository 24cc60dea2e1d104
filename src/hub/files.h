// Files of other programs' folders, read within bounds: names and sizes come from disks that anybody
// may have filled.
//
// Cost    a walk looks at no more than kMostEntries entries, and no deeper than it is told.
// Errors  ErrorKind::file: the path, and what is wrong with it. A folder that is not there has
//         nothing in it; one that may not be read says so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kvik::hub {

inline constexpr uint32_t kMostEntries = 200'000;

struct FileFacts {
    uint64_t bytes = 0;
    int64_t modified_s = 0;  // since 1970
};

// Of a regular file; symbolic links are followed.
std::optional<FileFacts> facts_of(const std::string& path);
bool is_folder(const std::string& path);

// A whole regular file of at most `most_bytes`.
Result<std::string> read_small_file(const std::string& path, size_t most_bytes);

// Calls `see` with the path, relative to `folder`, of each regular file at most `depth` folders
// below it, in the order of their names; links to files and folders are followed. Names that begin
// with a dot are left out.
Result<void> walk_files(const std::string& folder, uint32_t depth,
                        const std::function<void(const std::string& relative)>& see);
// The names of the folders in a folder, in order; without those that begin with a dot.
Result<std::vector<std::string>> folders_in(const std::string& folder);

}  // namespace kvik::hub
