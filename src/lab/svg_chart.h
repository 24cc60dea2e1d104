// SVG: a chart as a drawing within a page, whose style sheet (html_page.cpp) gives the colours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/report.h"

namespace kvik::lab {

std::string svg_chart(const Chart& chart);

std::string escaped(std::string_view text);       // for SVG and HTML
std::vector<double> axis_ticks(double greatest);  // 0, ... in steps of 1, 2 or 5 times 10^n
std::string short_number(double value);           // 950, 1.5k, 64k, 2M

}  // namespace kvik::lab
