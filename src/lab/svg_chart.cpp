#include "lab/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace kvik::lab {
namespace {

constexpr double kWidth = 760, kPlotHeight = 280;
constexpr double kLeft = 64, kRight = 20, kBottom = 52, kLegendLine = 20, kTop = 14;
constexpr double kCharacter = 7.2;  // width of one, about
constexpr uint32_t kColours = 6;    // classes s0 .. s5

std::string binary_number(double value) {
    return std::fmod(value, 1024) == 0 ? fmt::format("{:.4g}Ki", value / 1024)
                                       : short_number(value);
}

double greatest(const Chart& chart, std::vector<double> Series::*axis) {
    double most = 0;
    for (const Series& series : chart.series)
        for (const double value : series.*axis) most = std::max(most, value);
    return most > 0 ? most : 1;
}

class Drawing {
  public:
    explicit Drawing(const Chart& chart)
        : chart_(chart),
          y_ticks_(axis_ticks(greatest(chart, &Series::y))),
          x_ticks_(ticks_of_x(chart)),
          x_least_(x_of(chart.x_scale == Scale::logarithmic ? x_ticks_.front() : 0)),
          x_most_(x_of(x_ticks_.back())) {}

    std::string text() {
        draw_legend();
        draw_axes();
        for (size_t i = 0; i < chart_.series.size(); ++i) draw_series(i);
        return fmt::format(
            "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            kWidth, top_ + kPlotHeight + kBottom, escaped(chart_.title), out_);
    }

  private:
    static std::vector<double> ticks_of_x(const Chart& chart) {
        if (chart.x_scale == Scale::linear) return axis_ticks(greatest(chart, &Series::x));
        std::set<double> values;
        for (const Series& series : chart.series) values.insert(series.x.begin(), series.x.end());
        if (values.empty()) values.insert(1);
        return {values.begin(), values.end()};
    }
    double x_of(double value) const {
        return chart_.x_scale == Scale::logarithmic ? std::log2(value) : value;
    }
    double across(double value) const {
        const double span = x_most_ > x_least_ ? x_most_ - x_least_ : 1;
        return kLeft + (kWidth - kLeft - kRight) * (x_of(value) - x_least_) / span;
    }
    double down(double value) const { return top_ + kPlotHeight * (1 - value / y_ticks_.back()); }

    template <class... Args>
    void draw(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
        out_ += "\n";
    }

    void draw_legend() {
        double x = kLeft, y = kTop;
        for (size_t i = 0; i < chart_.series.size(); ++i) {
            const Series& series = chart_.series[i];
            const double width = 44 + kCharacter * static_cast<double>(series.name.size());
            if (x + width > kWidth && x > kLeft) x = kLeft, y += kLegendLine;
            draw("<path class=\"{}\" d=\"M{:.1f} {:.1f}h24\"/>", stroke_class(i), x, y);
            draw("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 30, y + 4, escaped(series.name));
            x += width;
        }
        top_ = y + kLegendLine;
    }
    void draw_axes() {
        for (const double tick : y_ticks_) {
            draw("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", kLeft, down(tick),
                 kWidth - kRight);
            draw("<text class=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", kLeft - 6,
                 down(tick) + 4, short_number(tick));
        }
        const double floor = top_ + kPlotHeight;
        for (const double tick : x_ticks_)
            draw("<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", across(tick),
                 floor + 18,
                 chart_.x_scale == Scale::logarithmic ? binary_number(tick) : short_number(tick));
        draw("<text class=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", (kLeft + kWidth) / 2,
             floor + 42, escaped(chart_.x_label));
        draw("<text class=\"middle\" transform=\"translate(14 {:.1f}) rotate(-90)\">{}</text>",
             top_ + kPlotHeight / 2, escaped(chart_.y_label));
    }
    void draw_series(size_t i) {
        const Series& series = chart_.series[i];
        std::string path;
        for (size_t k = 0; k < series.x.size(); ++k)
            path += fmt::format("{}{:.1f} {:.1f}", k == 0 ? "M" : "L", across(series.x[k]),
                                down(series.y[k]));
        draw("<path class=\"{}\" d=\"{}\"/>", stroke_class(i), path);
        for (size_t k = 0; k < series.x.size(); ++k)
            draw(
                "<circle class=\"dot s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}: "
                "{:.6g}</title></circle>",
                i % kColours, across(series.x[k]), down(series.y[k]), escaped(series.name),
                series.y[k]);
    }
    std::string stroke_class(size_t i) const {
        return fmt::format("line s{}{}", i % kColours,
                           chart_.series[i].stroke == Stroke::dashed ? " dashed" : "");
    }

    const Chart& chart_;
    std::vector<double> y_ticks_, x_ticks_;
    double x_least_, x_most_;
    double top_ = 0;
    std::string out_;
};

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

std::vector<double> axis_ticks(double greatest) {
    const double rough = greatest / 5, power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
        if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
    std::vector<double> ticks = {0};
    while (ticks.back() < greatest * (1 - 1e-9))
        ticks.push_back(step * static_cast<double>(ticks.size()));
    return ticks;
}

std::string short_number(double value) {
    if (value >= 1e6) return fmt::format("{:.4g}M", value / 1e6);
    if (value >= 1e4) return fmt::format("{:.4g}k", value / 1e3);
    return fmt::format("{:.4g}", value);
}

std::string svg_chart(const Chart& chart) {
    return Drawing(chart).text();
}

}  // namespace kvik::lab
