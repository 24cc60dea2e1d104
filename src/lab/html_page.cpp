#include "lab/html_page.h"

#include <fmt/format.h>

#include "lab/svg_chart.h"

namespace kvik::lab {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1e21; --soft: #5b6169; --rule: #d9dce0;
  --shade: #f4f5f7; --s0: #0b63b5; --s1: #c2480c; --s2: #0a7f5a; --s3: #a03a86; --s4: #8a6a00;
  --s5: #5b6169; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e7e9ec; --soft: #a3a9b2; --rule: #363b43; --shade: #1f2227;
    --s0: #6db3f2; --s1: #f0935b; --s2: #4cc79b; --s3: #dd8cc6; --s4: #d9b84a; --s5: #a3a9b2; } }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 60rem; background: var(--paper);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { margin-top: 2.5rem; font-size: 1.25rem; }
h3 { margin: 0 0 .5rem; font-size: 1rem; }
p, li { max-width: 46rem; }
figure { margin: 1.5rem 0; } figcaption, .soft { color: var(--soft); font-size: .92rem; }
figure svg, figure img { display: block; width: 100%; height: auto; }
.table { overflow-x: auto; margin: 1.5rem 0 .5rem; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .5rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
th { background: var(--shade); } th:first-child, td:first-child { text-align: left; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--rule); } svg .line { fill: none; stroke-width: 2.2; }
svg .dashed { stroke-dasharray: 6 4; }
)";

std::string colours() {
    std::string out;
    for (int i = 0; i < 6; ++i)
        out += fmt::format(
            "svg .line.s{0} {{ stroke: var(--s{0}); }} svg .dot.s{0} {{ fill: "
            "var(--s{0}); }}\n",
            i);
    return out;
}

std::string paragraph(std::string_view text) {
    return fmt::format("<p>{}</p>\n", escaped(text));
}

std::string figure(const Chart& chart) {
    return fmt::format(
        "<figure>\n<h3>{}</h3>\n<!--chart {}-->{}<!--/chart-->\n<figcaption>{}</figcaption>\n"
        "</figure>\n",
        escaped(chart.title), escaped(chart.name), svg_chart(chart), escaped(chart.caption));
}

std::string table_row(const std::vector<std::string>& cells, std::string_view element) {
    std::string row = "<tr>";
    for (const std::string& cell : cells)
        row += fmt::format("<{0}>{1}</{0}>", element, escaped(cell));
    return row + "</tr>\n";
}

std::string html_table(const Table& table) {
    std::string text = "<div class=\"table\"><table>\n<thead>";
    text += table_row(table.columns, "th") + "</thead>\n<tbody>\n";
    for (const auto& row : table.rows) text += table_row(row, "td");
    text += "</tbody></table></div>\n";
    if (!table.caption.empty())
        text += fmt::format("<p class=\"soft\">{}</p>\n", escaped(table.caption));
    return text;
}

std::string section_text(const Section& section) {
    std::string text = fmt::format("<section>\n<h2>{}</h2>\n", escaped(section.heading));
    for (const std::string& words : section.paragraphs) text += paragraph(words);
    for (const Chart& chart : section.charts) text += figure(chart);
    for (const Table& table : section.tables) text += html_table(table);
    return text + "</section>\n";
}

}  // namespace

std::string html_page(const Report& report) {
    std::string text = fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{0}</title>\n<style>{1}{2}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<ul>\n",
        escaped(report.title), kStyle, colours());
    for (const std::string& finding : report.findings)
        text += fmt::format("<li>{}</li>\n", escaped(finding));
    text += "</ul>\n";
    for (const Section& section : report.sections) text += section_text(section);
    return text + "</body>\n</html>\n";
}

}  // namespace kvik::lab
