// Report: what an experiment found, before it becomes a table on a terminal, a CSV file, pictures
// and a page. Numbers in tables are text already; those in charts are numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvik::lab {

struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::string caption = {};
};

enum class Scale : uint8_t { linear, logarithmic };
enum class Stroke : uint8_t { solid, dashed };

struct Series {
    std::string name;
    std::vector<double> x = {}, y = {};  // as many of each
    Stroke stroke = Stroke::solid;
};

struct Chart {
    std::string name;     // of its file, without ".png"
    std::string title;    // what it shows
    std::string caption;  // what is to be seen in it, in words
    std::string x_label, y_label;
    Scale x_scale = Scale::linear;
    std::vector<Series> series = {};
};

struct Section {
    std::string heading;
    std::vector<std::string> paragraphs = {};
    std::vector<Chart> charts = {};
    std::vector<Table> tables = {};
};

struct Report {
    std::string name;  // of its CSV file
    std::string title;
    std::vector<std::string> findings;  // the first things to read
    std::vector<Section> sections;
    Table csv;
};

}  // namespace kvik::lab
