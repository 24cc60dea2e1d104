#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace kvik {

void check_failed(const char* file, int line, const char* condition, const char* law) {
    std::fprintf(stderr, "kvik: broken law: %s (%s, %s:%d)\n", law, condition, file, line);
    std::abort();
}

}  // namespace kvik
