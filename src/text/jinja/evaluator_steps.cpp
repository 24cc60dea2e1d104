// The part of Evaluator behind a value: attributes, items, calls, filters, tests.
#include <fmt/format.h>

#include "text/jinja/attribute.h"
#include "text/jinja/builtin.h"
#include "text/jinja/evaluator.h"
#include "text/jinja/sequence.h"

namespace kvik::jinja {

Result<Value> Evaluator::apply(const std::vector<Step>& steps, Value to) {
    for (size_t i = 0; i < steps.size(); ++i) {
        const auto next = [&]() -> Result<Value> {
            KVIK_TRY_VOID(heap_.budget().steps());
            // x.f(...): the method is called as it is found, without a bound method between.
            const auto* name = std::get_if<GetAttribute>(&steps[i].what);
            const auto* call_of =
                name && i + 1 < steps.size() ? std::get_if<Call>(&steps[i + 1].what) : nullptr;
            const Builtin* method = call_of ? find_method(to, name->name->view()) : nullptr;
            if (method) {
                ++i;
                KVIK_TRY(const CallArgs args, arguments(call_of->args));
                return jinja::call(heap_, *method, to, args);
            }
            return std::visit([&](const auto& what) { return step(what, to); }, steps[i].what);
        };
        Result<Value> value = next();
        if (!value) blame(steps[i].at);
        KVIK_TRY(to, std::move(value));
    }
    return to;
}

Result<CallArgs> Evaluator::arguments(const CallSite& site) {
    CallArgs args;
    for (const ExprPtr& expr : site.positional) {
        KVIK_TRY(Value value, evaluate(*expr));
        args.positional.push_back(std::move(value));
    }
    for (const auto& [name, expr] : site.named) {
        KVIK_TRY(Value value, evaluate(*expr));
        KVIK_TRY_VOID(heap_.budget().bytes(name.size()));
        args.named.emplace_back(name, std::move(value));
    }
    return args;
}

Result<Value> Evaluator::step(const GetAttribute& step, const Value& to) {
    return attribute_of(heap_, to, step.name);
}

Result<Value> Evaluator::step(const GetItem& step, const Value& to) {
    KVIK_TRY(const Value key, evaluate(*step.key));
    return item_or_method(heap_, to, key);
}

Result<Value> Evaluator::step(const GetSlice& step, const Value& to) {
    const auto bound = [&](const ExprPtr& expr) -> Result<std::optional<int64_t>> {
        if (!expr) return std::optional<int64_t>();
        KVIK_TRY(const Value value, evaluate(*expr));
        if (value.is<None>()) return std::optional<int64_t>();
        if (const auto* undefined = value.get_if<Undefined>()) return undefined_error(*undefined);
        if (const auto* big = value.get_if<BigPtr>())  // past every end
            return std::optional((*big)->is_negative() ? INT64_MIN : INT64_MAX);
        const auto number = value.integer();
        if (!number) {
            return type_error(fmt::format("a slice's bound is {}, not an int", value.type_name()));
        }
        return number;
    };
    SliceBounds bounds;
    KVIK_TRY(bounds.start, bound(step.start));
    KVIK_TRY(bounds.stop, bound(step.stop));
    KVIK_TRY(bounds.step, bound(step.step));
    return slice_of(heap_, to, bounds);
}

Result<Value> Evaluator::step(const Call& step, const Value& to) {
    KVIK_TRY(const CallArgs args, arguments(step.args));
    return call(to, args);
}

Result<Value> Evaluator::step(const ApplyFilter& step, const Value& to) {
    const Builtin* filter = find_filter(step.name);
    if (!filter)
        return fail(ErrorKind::unsupported,
                    fmt::format("the filter '{}' is not supported", step.name));
    KVIK_TRY(const CallArgs args, arguments(step.args));
    return jinja::call(heap_, *filter, to, args);
}

Result<Value> Evaluator::step(const ApplyTest& step, const Value& to) {
    const Builtin* test = find_test(step.name);
    if (!test)
        return fail(ErrorKind::unsupported,
                    fmt::format("the test '{}' is not supported", step.name));
    KVIK_TRY(const CallArgs args, arguments(step.args));
    KVIK_TRY(const Value passed, jinja::call(heap_, *test, to, args));
    return Value(passed.truthy() != step.negated);
}

Result<Value> Evaluator::call(const Value& callee, const CallArgs& args) {
    if (auto* callable = callee.get_if<Callable*>()) {
        if ((*callable)->macro) return call_macro(**callable, args);
        return jinja::call(heap_, *(*callable)->builtin, (*callable)->self, args);
    }
    if (const auto* undefined = callee.get_if<Undefined>()) return undefined_error(*undefined);
    return type_error(fmt::format("{} cannot be called", callee.type_name()));
}

Result<Value> Evaluator::call_macro(const Callable& callable, const CallArgs& args) {
    const MacroStmt& macro = *callable.macro;
    const Level level(*this);
    KVIK_TRY_VOID(level.check());
    if (args.positional.size() > macro.parameters.size()) {
        return type_error(fmt::format("the macro '{}' takes at most {} arguments, {} are given",
                                      macro.name->view(), macro.parameters.size(),
                                      args.positional.size()));
    }
    Scope& inside = new_scope(callable.home);
    for (size_t i = 0; i < args.positional.size(); ++i) {
        inside.variables[macro.parameters[i].symbol] = args.positional[i];
    }
    for (const auto& [name, value] : args.named) {
        const MacroStmt::Parameter* parameter = nullptr;
        for (const MacroStmt::Parameter& each : macro.parameters) {
            if (each.name->view() == name) parameter = &each;
        }
        const Symbol symbol = parameter ? parameter->symbol : program_.caller;
        if ((!parameter && name != "caller") || !inside.variables.emplace(symbol, value).second) {
            return type_error(
                fmt::format("the macro '{}' has no argument '{}', or it is given "
                            "twice",
                            macro.name->view(), name));
        }
    }
    const Enter enter(*this, inside);
    for (const MacroStmt::Parameter& parameter : macro.parameters) {
        if (inside.variables.contains(parameter.symbol)) continue;
        Value value = Undefined{parameter.name};
        if (parameter.otherwise) {
            KVIK_TRY(value, evaluate(*parameter.otherwise));
        }
        inside.variables[parameter.symbol] = std::move(value);
    }
    return run_body_(macro.body);
}

}  // namespace kvik::jinja
