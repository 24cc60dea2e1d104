// A head of its own in a file whose config.json ties the head to the embedding: where the two differ
// the file's own head counts, as in Transformers 5, and a note says so.
//
// Cost    reads both tensors up to the first difference; nothing where there is one alone.
#pragma once

#include <string>

#include "base/result.h"
#include "model/source.h"

namespace kvik {

Result<void> resolve_tied_head(ModelSource& source, const std::string& path);

}  // namespace kvik
