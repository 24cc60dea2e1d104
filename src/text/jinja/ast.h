// The tree of a template: what the parser builds and the interpreter walks.
//
// Shape     chains are flat (a + b + c, x.y[z]|f, elif): only real nesting makes the tree deeper,
//           and the parser bounds that, so that walking it and freeing it may recurse.
// Owner     a Program owns its tree; strings in it are shared with the values of a render.
// Threads   read by any number of renders at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "text/jinja/arithmetic.h"
#include "text/jinja/containers.h"
#include "text/jinja/lexer.h"
#include "text/jinja/value.h"

namespace kvik::jinja {

enum class Symbol : uint32_t {};  // a variable's name, by its place in Program::symbols

struct Expr;
using ExprPtr = std::unique_ptr<const Expr>;

struct CallSite {
    std::vector<ExprPtr> positional;
    std::vector<std::pair<std::string, ExprPtr>> named;
};

// --- one step of a chain behind a value ---
struct GetAttribute {
    StrPtr name;
};
struct GetItem {
    ExprPtr key;
};
struct GetSlice {
    ExprPtr start, stop, step;  // null where left out
};
struct Call {
    CallSite args;
};
struct ApplyFilter {
    std::string name;
    CallSite args;
};
struct ApplyTest {
    std::string name;
    CallSite args;
    bool negated = false;
};
struct Step {
    Position at;
    std::variant<GetAttribute, GetItem, GetSlice, Call, ApplyFilter, ApplyTest> what;
};

// --- expressions ---
struct Constant {
    Value value;
};
struct Variable {
    Symbol symbol;
    StrPtr name;
};
struct ListExpr {
    std::vector<ExprPtr> items;
    List::Form form = List::Form::list;
};
struct DictExpr {
    std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};
struct Chain {  // first, then each step on the result so far
    ExprPtr first;
    std::vector<Step> steps;
};
struct Not {
    ExprPtr operand;
};
struct Sign {
    ExprPtr operand;
    bool negative = false;
};
struct Arithmetic {  // from left to right
    struct Operand {
        Position at;
        Operator op;
        ExprPtr value;
    };
    ExprPtr first;
    std::vector<Operand> rest;
};
struct Concat {
    std::vector<ExprPtr> parts;
};
enum class Relation : uint8_t { eq, ne, lt, le, gt, ge, in, not_in };
struct Comparisons {  // a < b <= c: each neighbouring pair holds
    struct Operand {
        Relation relation;
        ExprPtr value;
    };
    ExprPtr first;
    std::vector<Operand> rest;
};
struct Logic {  // the first operand that decides, as Python's `and` and `or` give it
    enum class Kind : uint8_t { all, any } kind = Kind::all;
    std::vector<ExprPtr> operands;
};
struct Conditional {
    ExprPtr condition, then, otherwise;  // otherwise may be null
};

struct Expr {
    Position at;
    std::variant<Constant, Variable, ListExpr, DictExpr, Chain, Not, Sign, Arithmetic, Concat,
                 Comparisons, Logic, Conditional>
        what;
};

// --- statements ---
struct Stmt;
using Body = std::vector<Stmt>;

struct Target {  // a name, a namespace's attribute, or names that an item is unpacked into
    struct Part {
        Symbol symbol;
        StrPtr name;
        StrPtr attribute;  // null: the name itself
    };
    std::vector<Part> parts;
    bool unpacks = false;
};

struct TextStmt {
    StrPtr text;
};
struct OutputStmt {
    ExprPtr value;
};
struct IfStmt {
    struct Branch {
        ExprPtr condition;
        Body body;
    };
    std::vector<Branch> branches;
    Body otherwise;
};
struct ForStmt {
    Target target;
    ExprPtr items;
    ExprPtr filter;  // may be null
    Body body;
    Body otherwise;  // when nothing was gone through
};
struct SetStmt {
    Target target;
    ExprPtr value;
};
struct SetBlockStmt {
    Target target;
    std::vector<Step> filters;
    Body body;
};
struct FilterStmt {
    std::vector<Step> filters;
    Body body;
};
struct WithStmt {
    std::vector<std::pair<Target, ExprPtr>> values;
    Body body;
};
struct MacroStmt {
    struct Parameter {
        Symbol symbol;
        StrPtr name;
        ExprPtr otherwise;  // null: none
    };
    Symbol symbol{};
    StrPtr name;
    std::vector<Parameter> parameters;
    Body body;
};
struct CallStmt {  // a call whose body the callee reaches as `caller`
    MacroStmt caller;
    ExprPtr call;
};
struct ScopeStmt {  // {% generation %}: marks text for training, means nothing here
    Body body;
};
struct BreakStmt {};
struct ContinueStmt {};

struct Stmt {
    Position at;
    std::variant<TextStmt, OutputStmt, IfStmt, ForStmt, SetStmt, SetBlockStmt, FilterStmt, WithStmt,
                 MacroStmt, CallStmt, ScopeStmt, BreakStmt, ContinueStmt>
        what;
};

struct Program {
    Body body;
    std::vector<std::string> symbols;
    // Names the interpreter itself sets.
    Symbol loop{};
    Symbol caller{};
};

}  // namespace kvik::jinja
