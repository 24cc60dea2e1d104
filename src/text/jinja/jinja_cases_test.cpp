// Templates against what jinja2 itself makes of them: tests/golden/jinja_cases.json, written by
// tests/golden/jinja_cases.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "text/jinja/interpreter.h"
#include "text/jinja/json_read.h"
#include "text/jinja/parser.h"

namespace kvik::jinja {
namespace {

constexpr int64_t kNow = 1721999045;  // 2024-07-26 13:04:05

nlohmann::ordered_json golden() {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/golden/jinja_cases.json");
    return nlohmann::ordered_json::parse(file);
}

Result<std::string> rendered(const std::string& source, const nlohmann::ordered_json& variables) {
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
    const auto cases = golden();
    size_t n = 0;
    for (const auto& each : cases.at("rendered")) {
        const std::string source = cases.at("templates").at(each.at(0).get<size_t>());
        const auto got = rendered(source, cases.at("variables").at(each.at(1).get<size_t>()));
        ASSERT_TRUE(got.has_value()) << source << "\n" << got.error().message;
        EXPECT_EQ(*got, each.at(2).get<std::string>()) << source;
        ++n;
    }
    EXPECT_GE(n, 700u);
}

TEST(JinjaCases, fail_where_jinja2_fails) {
    const auto cases = golden();
    size_t n = 0;
    for (const auto& each : cases.at("failing")) {
        const std::string source = cases.at("templates").at(each.at(0).get<size_t>());
        const auto got = rendered(source, cases.at("variables").at(each.at(1).get<size_t>()));
        EXPECT_FALSE(got.has_value()) << source << "\ngave " << got.value_or("");
        ++n;
    }
    EXPECT_GE(n, 80u);
}

}  // namespace
}  // namespace kvik::jinja
