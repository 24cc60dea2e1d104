// SymbolTable: variables' names -> small numbers, so that a lookup compares integers.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/ast.h"

namespace kvik::jinja {

class SymbolTable {
  public:
    Symbol of(std::string_view name) {
        const auto found = numbers_.find(name);
        if (found != numbers_.end()) return found->second;
        const Symbol symbol{static_cast<uint32_t>(names_.size())};
        names_.emplace_back(name);
        numbers_.emplace(name, symbol);
        return symbol;
    }
    std::vector<std::string> names() && { return std::move(names_); }

  private:
    std::map<std::string, Symbol, std::less<>> numbers_;
    std::vector<std::string> names_;
};

}  // namespace kvik::jinja
