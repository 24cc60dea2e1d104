// Templates against what jinja2 itself makes of them: tests/golden/jinja_cases.json and
// jinja_random.json, written by the programs of the same names; KVIK_JINJA_CASES names another.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "text/jinja/interpreter.h"
#include "text/jinja/json_read.h"
#include "text/jinja/parser.h"

namespace kvik::jinja {
namespace {

constexpr int64_t kNow = 1721999045;  // 2024-07-26 13:04:05

using Json = nlohmann::ordered_json;

std::vector<Json> tables() {
    std::vector<std::string> paths = {KVIK_SOURCE_DIR "/tests/golden/jinja_cases.json",
                                      KVIK_SOURCE_DIR "/tests/golden/jinja_random.json"};
    if (const char* more = std::getenv("KVIK_JINJA_CASES")) paths.emplace_back(more);
    std::vector<Json> out;
    for (const std::string& path : paths) {
        std::ifstream file(path);
        out.push_back(Json::parse(file));
    }
    return out;
}

Result<std::string> rendered(const std::string& source, const Json& variables) {
    Heap heap((Limits()));
    KVIK_TRY(const Program program, parse(source, heap.budget().limits()));
    RenderInputs inputs;
    inputs.now = kNow;
    for (const auto& [name, value] : variables.items()) {
        KVIK_TRY(Value made, read_json(heap, MarkedText{value.dump(), {}}));
        inputs.variables.emplace_back(name, std::move(made));
    }
    KVIK_TRY(MarkedText text, render(program, heap, inputs));
    return std::move(text.text);
}

TEST(JinjaCases, render_as_jinja2_does) {
    size_t n = 0;
    for (const Json& table : tables()) {
        for (const Json& each : table.at("rendered")) {
            const std::string source = table.at("templates").at(each.at(0).get<size_t>());
            const auto got = rendered(source, table.at("variables").at(each.at(1).get<size_t>()));
            EXPECT_TRUE(got.has_value()) << source << "\n" << got.error().message;
            EXPECT_EQ(got.value_or(""), each.at(2).get<std::string>()) << source;
            ++n;
        }
    }
    std::cout << n << " texts of templates are equal to jinja2's\n";
    EXPECT_GE(n, 950u);
}

TEST(JinjaCases, fail_where_jinja2_fails) {
    size_t n = 0;
    for (const Json& table : tables()) {
        for (const Json& each : table.at("failing")) {
            const std::string source = table.at("templates").at(each.at(0).get<size_t>());
            const auto got = rendered(source, table.at("variables").at(each.at(1).get<size_t>()));
            EXPECT_FALSE(got.has_value()) << source << "\ngave " << got.value_or("");
            ++n;
        }
    }
    std::cout << n << " templates fail as in jinja2\n";
    EXPECT_GE(n, 200u);
}

}  // namespace
}  // namespace kvik::jinja
