#include "text/jinja/budget.h"

#include <fmt/format.h>

namespace kvik::jinja {

Result<void> Budget::steps(uint64_t n) {
    if (!spend_steps(n)) return overspent();
    return {};
}

Result<void> Budget::bytes(uint64_t n) {
    if (!spend_bytes(n)) return overspent();
    return {};
}

tl::unexpected<Error> Budget::overspent() const {
    if (n_steps_ >= limits_.n_steps) {
        return fail(ErrorKind::failed,
                    fmt::format("takes more than {} steps: shorten the conversation or simplify "
                                "the template",
                                limits_.n_steps));
    }
    return fail(ErrorKind::failed,
                fmt::format("builds and searches more than {} bytes of text: shorten the "
                            "conversation or simplify the template",
                            limits_.work_bytes));
}

}  // namespace kvik::jinja
