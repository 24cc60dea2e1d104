// check_model_file: `kvik show --check`. Would the model load, and is every number in it one?
//
// Errors  what loading would say: ErrorKind::file or unsupported. Broken numbers are the report's,
//         and status 3.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/report.h"

namespace kvik::cli {

Result<int> check_model_file(const std::string& path, ErrorFormat format);

}  // namespace kvik::cli
