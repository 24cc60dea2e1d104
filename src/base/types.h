// The few scalar types that every module shares.
#pragma once

#include <cstdint>

namespace kvik {

using TokenId = int32_t;  // index into a vocabulary; never negative in a valid sequence

}  // namespace kvik
