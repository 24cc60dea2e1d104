// Evaluator: the state of one render, and what expressions are worth in it.
//
// Cost      a node is a step. Recursion follows the tree and the macros' calls, and is bounded by
//           the depth limit whatever the template does.
// Invariant scope() and the depth are the same before and after any evaluation.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "base/result.h"
#include "text/jinja/ast.h"
#include "text/jinja/call_args.h"
#include "text/jinja/heap.h"
#include "text/jinja/scope.h"

namespace kvik::jinja {

class Evaluator {
  public:
    // `run_body` runs a macro's body in the current scope and gives what it wrote.
    using RunBody = std::function<Result<Value>(const Body&)>;
    Evaluator(const Program& program, Heap& heap, RunBody run_body)
        : program_(program), heap_(heap), run_body_(std::move(run_body)) {}

    Heap& heap() { return heap_; }
    Result<Value> evaluate(const Expr& expr);
    Result<Value> apply(const std::vector<Step>& steps, Value to);
    Result<CallArgs> arguments(const CallSite& site);
    Result<Value> call(const Value& callee, const CallArgs& args);

    Scope& scope() { return *scope_; }
    Scope& new_scope(Scope* around);
    // Makes a scope the current one for as long as it lives.
    class Enter {
      public:
        Enter(Evaluator& evaluator, Scope& scope);
        ~Enter();
        Enter(const Enter&) = delete;
        Enter& operator=(const Enter&) = delete;

      private:
        Evaluator& evaluator_;
        Scope* before_;
    };
    // One level deeper for as long as it lives.
    class Level {
      public:
        explicit Level(Evaluator& evaluator) : evaluator_(evaluator) { ++evaluator_.depth_; }
        ~Level() { --evaluator_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        Result<void> check() const;

      private:
        Evaluator& evaluator_;
    };

    // The place nearest to the error that ended the render.
    void blame(Position at) { blamed_ = blamed_.value_or(at); }
    std::optional<Position> blamed() const { return blamed_; }

  private:
    Result<Value> value_of(const Constant& node);
    Result<Value> value_of(const Variable& node);
    Result<Value> value_of(const ListExpr& node);
    Result<Value> value_of(const DictExpr& node);
    Result<Value> value_of(const Chain& node);
    Result<Value> value_of(const Not& node);
    Result<Value> value_of(const Sign& node);
    Result<Value> value_of(const Arithmetic& node);
    Result<Value> value_of(const Concat& node);
    Result<Value> value_of(const Comparisons& node);
    Result<Value> value_of(const Logic& node);
    Result<Value> value_of(const Conditional& node);
    Result<Value> step(const GetAttribute& step, const Value& to);
    Result<Value> step(const GetItem& step, const Value& to);
    Result<Value> step(const GetSlice& step, const Value& to);
    Result<Value> step(const Call& step, const Value& to);
    Result<Value> step(const ApplyFilter& step, const Value& to);
    Result<Value> step(const ApplyTest& step, const Value& to);
    Result<bool> holds(Relation relation, const Value& a, const Value& b);
    Result<Value> call_macro(const Callable& macro, const CallArgs& args);

    const Program& program_;
    Heap& heap_;
    RunBody run_body_;
    std::deque<Scope> scopes_;
    Scope* scope_ = nullptr;
    uint32_t depth_ = 0;
    std::optional<Position> blamed_;
};

}  // namespace kvik::jinja
