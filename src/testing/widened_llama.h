// widened_llama: a llama made four times as wide whose first channels are the narrow one, bit for
// bit, and whose others are dead weight that is computed like any other. Its logits are the narrow
// one's: whatever a kernel adds to a row from beyond it shows.
//
// Why it is exact: the dead residual channels stay 0, RMSNorm over 4 n channels equals RMSNorm over
// n with weights halved and eps quartered (powers of two), and quantised groups are copied as they
// lie, with groups of zero bytes after them.
#pragma once

#include "formats/gguf.h"
#include "testing/gguf_writer.h"
#include "testing/tiny_llama.h"

namespace kvik {

// `file` holds tiny_llama(narrow).
GgufWriter widened_llama(const TinyLlama& narrow, const GgufFile& file);

}  // namespace kvik
