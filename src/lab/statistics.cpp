#include "lab/statistics.h"

#include <algorithm>

namespace kvik::lab {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double median_ratio(std::span<const double> above, std::span<const double> below) {
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(above.size(), below.size()); ++i)
        ratios.push_back(above[i] / below[i]);
    return median(std::move(ratios));
}

}  // namespace kvik::lab
