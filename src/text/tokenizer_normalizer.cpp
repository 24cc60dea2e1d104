#include "text/tokenizer_normalizer.h"

#include <fmt/format.h>

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
    for (size_t i = 0; i < steps.size(); ++i)
        if (steps[i].kind == NormalizerStep::Kind::replace && steps[i].from.empty())
            return fail(ErrorKind::file,
                        fmt::format("tokenizer: steps[{}] replaces an empty text: name what is to "
                                    "be replaced",
                                    i));
    return Normalizer(std::move(steps));
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
