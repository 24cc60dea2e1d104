// check_beams: what is wrong with the beams of a request.
//
// Errors  their number or the length penalty out of range, penalties or bias beside them: usage. KV
//         that does not fit the whole budget even if nothing else is there: memory, naming bytes,
//         budget and flags. What passes here can always be computed, if need be alone.
#pragma once

#include "engine/engine_settings.h"
#include "kvik/kvik.h"

namespace kvik {

Result<void> check_beams(const GenerateRequest& request, const EngineSettings& settings);

}  // namespace kvik
