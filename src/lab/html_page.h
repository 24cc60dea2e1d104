// HTML: a report as one page that needs nothing else: style within, light or dark as the reader's
// system is, every picture with its words and every number in a table.
//
// Shape   a chart stands between <!--chart NAME--> and <!--/chart-->, where plots.py puts its picture
//         in the place of the drawing.
// Invariant no text of a report can become markup.
#pragma once

#include <string>

#include "lab/report.h"

namespace kvik::lab {

std::string html_page(const Report& report);

}  // namespace kvik::lab
