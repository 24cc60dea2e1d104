// Scope: the variables set at one place of a render, inside those of the places around it.
//
// Owner     the interpreter, until the render ends: a macro may outlive the block it stands in.
#pragma once

#include <map>

#include "text/jinja/ast.h"

namespace kvik::jinja {

struct Scope {
    Scope* around = nullptr;
    std::map<Symbol, Value> variables;

    const Value* find(Symbol symbol) const {
        for (const Scope* at = this; at; at = at->around) {
            const auto found = at->variables.find(symbol);
            if (found != at->variables.end()) return &found->second;
        }
        return nullptr;
    }
};

}  // namespace kvik::jinja
