#include "text/jinja/interpreter.h"

#include <fmt/format.h>

#include "text/jinja/attribute.h"
#include "text/jinja/builtin.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/print.h"
#include "text/jinja/sequence.h"

namespace kvik::jinja {
namespace {

// How a statement ends: by going on, or by leaving the loop's body.
enum class Flow : uint8_t { next, leave_loop, next_round };

class Interpreter {
  public:
    Interpreter(const Program& program, Heap& heap)
        : program_(program),
          heap_(heap),
          evaluator_(program, heap, [this](const Body& body) { return captured(body); }) {}

    Result<MarkedText> run(const RenderInputs& inputs);

  private:
    Result<void> set_up(const RenderInputs& inputs, Scope& root);
    Result<Value> captured(const Body& body);
    Result<Value> captured_in_scope(const Body& body, Flow& flow);
    Result<Flow> run(const Body& body);
    Result<Flow> run_in_scope(const Body& body);
    Result<Flow> exec(const TextStmt& stmt);
    Result<Flow> exec(const OutputStmt& stmt);
    Result<Flow> exec(const IfStmt& stmt);
    Result<Flow> exec(const ForStmt& stmt);
    Result<Flow> exec(const SetStmt& stmt);
    Result<Flow> exec(const SetBlockStmt& stmt);
    Result<Flow> exec(const FilterStmt& stmt);
    Result<Flow> exec(const WithStmt& stmt);
    Result<Flow> exec(const MacroStmt& stmt);
    Result<Flow> exec(const CallStmt& stmt);
    Result<Flow> exec(const ScopeStmt& stmt);
    Result<Flow> exec(const BreakStmt&) { return Flow::leave_loop; }
    Result<Flow> exec(const ContinueStmt&) { return Flow::next_round; }
    Result<std::vector<Value>> items_for(const ForStmt& stmt);
    Result<bool> go_through(const ForStmt& stmt, Loop& loop);
    Result<void> assign(const Target& target, const Value& value);
    Result<void> assign(const Target::Part& part, const Value& value);
    Scope& scope() { return evaluator_.scope(); }

    const Program& program_;
    Heap& heap_;
    Evaluator evaluator_;
    TextBuilder* out_ = nullptr;
};

Result<void> Interpreter::set_up(const RenderInputs& inputs, Scope& root) {
    std::map<std::string_view, Symbol> symbols;
    for (size_t i = 0; i < program_.symbols.size(); ++i) {
        symbols.emplace(program_.symbols[i], Symbol{static_cast<uint32_t>(i)});
    }
    for (const Builtin& function : functions()) {
        const auto symbol = symbols.find(function.name);
        if (symbol == symbols.end()) continue;
        const bool needs_time = function.name == "strftime_now";
        if (needs_time && !inputs.now) continue;
        const Value self = needs_time ? Value(*inputs.now) : Value();
        root.variables[symbol->second] = heap_.callable({&function, self, nullptr, nullptr});
    }
    for (const auto& [name, value] : inputs.variables) {
        const auto symbol = symbols.find(name);
        if (symbol != symbols.end()) root.variables[symbol->second] = value;
    }
    return heap_.budget().steps(inputs.variables.size());
}

Result<MarkedText> Interpreter::run(const RenderInputs& inputs) {
    TextBuilder out(heap_.budget());
    out_ = &out;
    Scope& root = evaluator_.new_scope(nullptr);
    const Evaluator::Enter enter(evaluator_, root);
    KVIK_TRY_VOID(set_up(inputs, root));
    const Result<Flow> flow = run(program_.body);
    if (!flow) {
        return fail_at(evaluator_.blamed().value_or(Position{}), flow.error().kind,
                       flow.error().message);
    }
    Result<MarkedText> text = out.finish();
    if (!text) return fail_at(Position{}, text.error().kind, text.error().message);
    return text;
}

Result<Flow> Interpreter::run(const Body& body) {
    const Evaluator::Level level(evaluator_);
    KVIK_TRY_VOID(level.check());
    for (const Stmt& stmt : body) {
        const auto inner = [&]() -> Result<Flow> {
            KVIK_TRY_VOID(heap_.budget().steps());
            KVIK_TRY(const Flow flow,
                     std::visit([&](const auto& what) { return exec(what); }, stmt.what));
            if (!out_->full()) return flow;
            return tl::unexpected<Error>(out_->finish().error());
        };
        const Result<Flow> flow = inner();
        if (!flow) evaluator_.blame(stmt.at);
        if (!flow || *flow != Flow::next) return flow;
    }
    return Flow::next;
}

Result<Flow> Interpreter::run_in_scope(const Body& body) {
    const Evaluator::Enter enter(evaluator_, evaluator_.new_scope(&scope()));
    return run(body);
}

// What a body writes, as a value. A body that leaves a loop around it writes nothing.
Result<Value> Interpreter::captured_in_scope(const Body& body, Flow& flow) {
    TextBuilder out(heap_.budget());
    TextBuilder* before = std::exchange(out_, &out);
    const Result<Flow> ended = run_in_scope(body);
    out_ = before;
    if (!ended) return tl::unexpected<Error>(ended.error());
    flow = *ended;
    return heap_.string(out);
}

Result<Value> Interpreter::captured(const Body& body) {
    Flow flow = Flow::next;
    return captured_in_scope(body, flow);
}

Result<Flow> Interpreter::exec(const TextStmt& stmt) {
    out_->add(stmt.text->marked);
    return Flow::next;
}

Result<Flow> Interpreter::exec(const OutputStmt& stmt) {
    KVIK_TRY(const Value value, evaluator_.evaluate(*stmt.value));
    KVIK_TRY_VOID(print(heap_, *out_, value));
    return Flow::next;
}

Result<Flow> Interpreter::exec(const IfStmt& stmt) {
    for (const IfStmt::Branch& branch : stmt.branches) {
        KVIK_TRY(const Value condition, evaluator_.evaluate(*branch.condition));
        if (condition.truthy()) return run(branch.body);
    }
    return run(stmt.otherwise);
}

Result<std::vector<Value>> Interpreter::items_for(const ForStmt& stmt) {
    KVIK_TRY(const Value from, evaluator_.evaluate(*stmt.items));
    KVIK_TRY(std::vector<Value> items, items_of(heap_, from));
    if (!stmt.filter) return items;
    const Evaluator::Enter enter(evaluator_, evaluator_.new_scope(&scope()));
    std::vector<Value> kept;
    for (Value& item : items) {
        KVIK_TRY_VOID(assign(stmt.target, item));
        KVIK_TRY(const Value wanted, evaluator_.evaluate(*stmt.filter));
        if (!wanted.truthy()) continue;
        if (stmt.target.unpacks) {  // what was taken apart goes on as a tuple
            KVIK_TRY(std::vector<Value> parts, items_of(heap_, item));
            KVIK_TRY(item, list_of(heap_, std::move(parts), List::Form::tuple));
        }
        kept.push_back(std::move(item));
    }
    return kept;
}

Result<Flow> Interpreter::exec(const ForStmt& stmt) {
    KVIK_TRY(std::vector<Value> items, items_for(stmt));
    if (items.empty()) return run_in_scope(stmt.otherwise);
    Loop* loop = heap_.loop();
    loop->items = std::move(items);
    KVIK_TRY(const bool any_ended, go_through(stmt, *loop));
    // As jinja2 has it, rounds that all break or continue count as none.
    return any_ended ? Flow::next : run_in_scope(stmt.otherwise);
}

// Whether some round came to the end of the body.
Result<bool> Interpreter::go_through(const ForStmt& stmt, Loop& loop) {
    Scope& inside = evaluator_.new_scope(&scope());
    const Evaluator::Enter enter(evaluator_, inside);
    bool any_ended = false;
    for (loop.index = 0; loop.index < loop.items.size(); ++loop.index) {
        KVIK_TRY_VOID(heap_.budget().steps());
        inside.variables.clear();  // what a round sets is gone in the next
        inside.variables[program_.loop] = &loop;
        KVIK_TRY_VOID(assign(stmt.target, loop.items[loop.index]));
        KVIK_TRY(const Flow flow, run(stmt.body));
        if (flow == Flow::leave_loop) break;
        any_ended = any_ended || flow == Flow::next;
    }
    return any_ended;
}

Result<void> Interpreter::assign(const Target::Part& part, const Value& value) {
    if (!part.attribute) {
        scope().variables[part.symbol] = value;
        return {};
    }
    const Value* found = scope().find(part.symbol);
    Namespace* const* space = found ? found->get_if<Namespace*>() : nullptr;
    if (!space) {
        return type_error(fmt::format("'{}' is no namespace, so '{}' of it cannot be set",
                                      part.name->view(), part.attribute->view()));
    }
    KVIK_TRY(const std::string key, key_of(heap_.budget(), part.attribute));
    (*space)->values.set(key, part.attribute, value);
    return {};
}

Result<void> Interpreter::assign(const Target& target, const Value& value) {
    if (!target.unpacks) return assign(target.parts[0], value);
    KVIK_TRY(const std::vector<Value> items, items_of(heap_, value));
    if (items.size() != target.parts.size()) {
        return type_error(fmt::format("{} values cannot be unpacked into {} names", items.size(),
                                      target.parts.size()));
    }
    for (size_t i = 0; i < items.size(); ++i) {
        KVIK_TRY_VOID(assign(target.parts[i], items[i]));
    }
    return {};
}

Result<Flow> Interpreter::exec(const SetStmt& stmt) {
    KVIK_TRY(const Value value, evaluator_.evaluate(*stmt.value));
    KVIK_TRY_VOID(assign(stmt.target, value));
    return Flow::next;
}

Result<Flow> Interpreter::exec(const SetBlockStmt& stmt) {
    Flow flow = Flow::next;
    KVIK_TRY(Value text, captured_in_scope(stmt.body, flow));
    if (flow != Flow::next) return flow;
    KVIK_TRY(const Value value, evaluator_.apply(stmt.filters, std::move(text)));
    KVIK_TRY_VOID(assign(stmt.target, value));
    return Flow::next;
}

Result<Flow> Interpreter::exec(const FilterStmt& stmt) {
    Flow flow = Flow::next;
    KVIK_TRY(Value text, captured_in_scope(stmt.body, flow));
    if (flow != Flow::next) return flow;
    KVIK_TRY(const Value value, evaluator_.apply(stmt.filters, std::move(text)));
    KVIK_TRY_VOID(print(heap_, *out_, value));
    return Flow::next;
}

Result<Flow> Interpreter::exec(const WithStmt& stmt) {
    Scope& inside = evaluator_.new_scope(&scope());
    std::vector<Value> values;  // all of them seen from outside
    for (const auto& [target, expr] : stmt.values) {
        KVIK_TRY(Value value, evaluator_.evaluate(*expr));
        values.push_back(std::move(value));
    }
    const Evaluator::Enter enter(evaluator_, inside);
    for (size_t i = 0; i < values.size(); ++i) {
        KVIK_TRY_VOID(assign(stmt.values[i].first, values[i]));
    }
    return run(stmt.body);
}

Result<Flow> Interpreter::exec(const MacroStmt& stmt) {
    scope().variables[stmt.symbol] = heap_.callable({nullptr, {}, &stmt, &scope()});
    return Flow::next;
}

Result<Flow> Interpreter::exec(const CallStmt& stmt) {
    const Chain& chain = std::get<Chain>(stmt.call->what);
    KVIK_TRY(Value callee, evaluator_.evaluate(*chain.first));
    // All steps but the call itself lead to what is called.
    for (size_t i = 0; i + 1 < chain.steps.size(); ++i) {
        const auto* name = std::get_if<GetAttribute>(&chain.steps[i].what);
        if (!name) return type_error("the tag 'call' needs a macro by its name");
        KVIK_TRY(callee, attribute_of(heap_, callee, name->name));
    }
    KVIK_TRY(CallArgs args, evaluator_.arguments(std::get<Call>(chain.steps.back().what).args));
    args.named.emplace_back("caller", heap_.callable({nullptr, {}, &stmt.caller, &scope()}));
    KVIK_TRY(const Value text, evaluator_.call(callee, args));
    KVIK_TRY_VOID(print(heap_, *out_, text));
    return Flow::next;
}

Result<Flow> Interpreter::exec(const ScopeStmt& stmt) {
    return run_in_scope(stmt.body);
}

}  // namespace

Result<MarkedText> render(const Program& program, Heap& heap, const RenderInputs& inputs) {
    return Interpreter(program, heap).run(inputs);
}

}  // namespace kvik::jinja
