// model_facts: what `kvik show` knows of a model, as the JSON object that it prints.
//
// Cost    reads headers, no weights.
// Errors  of the reader. A model that kvik does not run is a fact, not an error: "supported" is
//         false and "unsupported" says why.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/json.h"

namespace kvik::cli {

enum class FactsDetail : uint8_t { summary, every_tensor };

Result<Json> model_facts(const std::string& path, FactsDetail detail);

}  // namespace kvik::cli
