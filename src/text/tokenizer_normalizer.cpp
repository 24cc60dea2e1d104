#include "text/tokenizer_normalizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "text/utf8_nfc.h"

namespace kvik {
namespace {

void append_replaced(std::string_view text, const NormalizerStep& step, std::string& out) {
    for (size_t at = 0; at < text.size();) {
        const size_t found = text.find(step.from, at);
        out += text.substr(at, found - at);
        if (found == std::string_view::npos) return;
        out += step.to;
        at = found + step.from.size();
    }
}

}  // namespace

Result<Normalizer> Normalizer::make(std::vector<NormalizerStep> steps) {
    double growth = 1;
    double prepended = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
        const NormalizerStep& step = steps[i];
        const bool replaces = step.kind == NormalizerStep::Kind::replace;
        if (replaces && step.from.empty())
            return fail(ErrorKind::file,
                        fmt::format("tokenizer: steps[{}] replaces an empty text: name what is to "
                                    "be replaced",
                                    i));
        const double n_to = static_cast<double>(step.to.size());
        if (replaces) growth *= std::max(1.0, n_to / static_cast<double>(step.from.size()));
        if (step.kind == NormalizerStep::Kind::prepend) prepended += n_to;
        if (growth > kMaxGrowth || prepended > kMaxPrepended)
            return fail(ErrorKind::unsupported,
                        fmt::format("tokenizer: steps[{}] lets a text grow by more than {} times "
                                    "or {} bytes: use another model, or token ids",
                                    i, kMaxGrowth, kMaxPrepended));
    }
    return Normalizer(std::move(steps));
}

// Normal form C: nothing combines with a space that comes after it. A replacement may span one.
bool Normalizer::keeps_spaces_apart() const {
    return std::all_of(steps_.begin(), steps_.end(), [](const NormalizerStep& step) {
        return step.kind == NormalizerStep::Kind::nfc;
    });
}

std::string Normalizer::apply(std::string_view text) const {
    std::string now(text);
    for (const NormalizerStep& step : steps_) {
        if (now.empty()) break;
        std::string next;
        next.reserve(now.size() + step.to.size());
        switch (step.kind) {
            case NormalizerStep::Kind::nfc:
                append_nfc(now, next);
                break;
            case NormalizerStep::Kind::replace:
                append_replaced(now, step, next);
                break;
            case NormalizerStep::Kind::prepend:
                next = step.to;
                next += now;
                break;
        }
        now = std::move(next);
    }
    return now;
}

}  // namespace kvik
