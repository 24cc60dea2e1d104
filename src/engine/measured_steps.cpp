#include "engine/measured_steps.h"

#include <algorithm>

#include "base/check.h"

namespace kvik {
namespace {

// Whatever is missing of a curve that rises over an axis and of which one point at least is known.
template <size_t n>
std::array<double, n> filled(const std::array<std::optional<double>, n>& known,
                             const std::array<uint32_t, n>& axis) {
    std::array<double, n> out{};
    std::optional<size_t> last, before;
    for (size_t i = 0; i < n; ++i) {
        if (!known[i]) continue;
        before = last;
        last = i;
        out[i] = *known[i];
        const double from = before ? axis[*before] : 0, low = before ? *known[*before] : 0;
        const double slope = (out[i] - low) / (axis[i] - from);
        for (size_t j = before ? *before + 1 : 0; j < i; ++j)
            out[j] = low + slope * (axis[j] - from);
    }
    // One point alone: half of it is taken to be there with no rows at all.
    const double from = before ? axis[*before] : 0;
    const double low = before ? *known[*before] : out[*last] / 2;
    const double slope = (out[*last] - low) / (axis[*last] - from);
    for (size_t j = *last + 1; j < n; ++j) out[j] = out[*last] + slope * (axis[j] - axis[*last]);
    return out;
}

template <class Values>
void make_rising(Values& values) {
    double least = 0;
    for (double& value : values) least = value = std::max(value, least);
}

}  // namespace

void MeasuredSteps::cut_noise() {
    Cells most;  // the least of all that has as many rows or more, as deep or deeper
    for (size_t d = StepCosts::kDepths.size(); d-- > 0;) {
        std::optional<double> least;
        for (size_t r = StepCosts::kTokens.size(); r-- > 0;) {
            std::optional<double>& cell = step_ms_[d][r];
            if (most[r] && (!least || *most[r] < *least)) least = most[r];
            if (cell && least) cell = std::min(*cell, *least);
            if (cell) least = cell;
            most[r] = least;
        }
    }
    std::optional<double> least;
    for (size_t c = StepCosts::kChunks.size(); c-- > 1;) {
        std::optional<double>& cell = chunk_ms_[c];
        if (cell && least) cell = std::min(*cell, *least);
        if (cell) least = cell;
    }
}

StepCosts MeasuredSteps::complete() const {
    KVIK_CHECK(step_ms_[0][0].has_value(), "a step of one row has been measured");
    MeasuredSteps clean = *this;
    clean.cut_noise();
    StepCosts costs;
    costs.step_ms[0] = filled(clean.step_ms_[0], StepCosts::kTokens);
    make_rising(costs.step_ms[0]);

    StepCosts::Row added{}, before{};  // by a depth, over depth 0
    for (size_t d = 1; d < StepCosts::kDepths.size(); ++d) {
        Cells known;
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
            if (clean.step_ms_[d][r])
                known[r] = std::max(0.0, *clean.step_ms_[d][r] - costs.step_ms[0][r]);
        const bool any = std::any_of(known.begin(), known.end(), [](auto& k) { return !!k; });
        const double deeper = d > 1 ? 1.0 * StepCosts::kDepths[d] / StepCosts::kDepths[d - 1] : 0;
        if (any) added = filled(known, StepCosts::kTokens);
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r)
            added[r] = (any ? added[r] : before[r] * deeper) - before[r];
        make_rising(added);
        for (size_t r = 0; r < StepCosts::kTokens.size(); ++r) {
            costs.step_ms[d][r] = costs.step_ms[d - 1][r] + added[r];
            before[r] += added[r];
        }
    }

    // Rows of which only the last has logits never cost more than those that all have them; where
    // they were not measured they are taken to cost the same.
    auto chunks = clean.chunk_ms_;
    for (size_t c = 0; c < StepCosts::kChunks.size(); ++c) {
        const double all_ms = costs.ms(StepCosts::kChunks[c], 0);
        chunks[c] = c == 0 ? all_ms : std::min(chunks[c].value_or(all_ms), all_ms);
    }
    costs.chunk_ms = filled(chunks, StepCosts::kChunks);
    make_rising(costs.chunk_ms);
    return costs;
}

}  // namespace kvik
