// Medians of rounds, and of ratios taken within a round.
#pragma once

#include <span>
#include <vector>

namespace kvik::lab {

double median(std::vector<double> values);  // 0 of none
// The median of above[i] / below[i]; 0 of none.
double median_ratio(std::span<const double> above, std::span<const double> below);

}  // namespace kvik::lab
