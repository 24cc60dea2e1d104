// replace_file: a file whose contents change all at once or not at all.
//
// Shape   written beside the target under another name, then put in its place. A target that is a
//         symbolic link keeps being one: what it points to is replaced.
// Errors  ErrorKind::file, naming the file and what to do; the old contents are still there then.
// Invariant a new file has mode 0600; one that was there keeps its own. Nothing but a regular file
//         is ever replaced.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kvik::cli {

Result<void> replace_file(const std::string& path, std::string_view bytes);

// The folders above a file, each for its owner alone where it is new. What fails shows when the file
// is opened.
void make_private_folders(const std::string& path);

// The whole file, at most `most_bytes` of it; more, or no regular file: ErrorKind::file.
Result<std::string> read_small_file(const std::string& path, size_t most_bytes);

}  // namespace kvik::cli
