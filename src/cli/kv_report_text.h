// A KvReport as people and programs read it.
//
// Shape   lines such as
//             1000 tokens  from memory
//               12 tokens  computed: "Berlin" was "Paris" at token 1000
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kvik/kv_report.h"

namespace kvik::cli {

std::vector<std::string> describe_lines(const KvReport& report);  // printable
nlohmann::ordered_json describe(const KvReport& report);

}  // namespace kvik::cli
