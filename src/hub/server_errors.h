// What a reply that is no success means to whoever asked, and whether to ask again.
//
// Use     pure functions of the reply.
#pragma once

#include <optional>

#include "base/result.h"
#include "hub/http.h"

namespace kvik::hub {

inline constexpr int kMostTries = 6;  // in a row that brought nothing

// Seconds to wait before another try, the n-th (from 1) that brought nothing; nothing: another try
// would not help.
std::optional<double> wait_before_retry(const HttpReply& reply, int n_tries);

// `what` is asked for: "OWNER/REPO", "model.gguf of OWNER/REPO".
Error server_error(const HttpReply& reply, const std::string& what, const HttpOptions& options);

}  // namespace kvik::hub
