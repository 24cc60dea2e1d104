#include "text/jinja/evaluator.h"

#include <fmt/format.h>

#include "text/jinja/arithmetic.h"
#include "text/jinja/attribute.h"
#include "text/jinja/builtin.h"
#include "text/jinja/compare.h"
#include "text/jinja/print.h"
#include "text/jinja/sequence.h"

namespace kvik::jinja {

Scope& Evaluator::new_scope(Scope* around) {
    heap_.budget().spend_bytes(sizeof(Scope));
    Scope& made = scopes_.emplace_back();
    made.around = around;
    return made;
}

Evaluator::Enter::Enter(Evaluator& evaluator, Scope& scope)
    : evaluator_(evaluator), before_(evaluator.scope_) {
    evaluator_.scope_ = &scope;
}

Evaluator::Enter::~Enter() {
    evaluator_.scope_ = before_;
}

Result<void> Evaluator::Level::check() const {
    const uint32_t limit = evaluator_.heap_.budget().limits().depth;
    if (evaluator_.depth_ <= limit) return {};
    return type_error(fmt::format("blocks, calls and values nested deeper than {}", limit));
}

Result<Value> Evaluator::evaluate(const Expr& expr) {
    const Level level(*this);
    const auto inner = [&]() -> Result<Value> {
        KVIK_TRY_VOID(level.check());
        KVIK_TRY_VOID(heap_.budget().steps());
        return std::visit([&](const auto& node) { return value_of(node); }, expr.what);
    };
    Result<Value> value = inner();
    if (!value) blame(expr.at);
    return value;
}

Result<Value> Evaluator::value_of(const Constant& node) {
    return node.value;
}

Result<Value> Evaluator::value_of(const Variable& node) {
    const Value* found = scope_->find(node.symbol);
    return found ? *found : Value(Undefined{node.name});
}

Result<Value> Evaluator::value_of(const ListExpr& node) {
    std::vector<Value> items;
    for (const ExprPtr& item : node.items) {
        KVIK_TRY(Value value, evaluate(*item));
        items.push_back(std::move(value));
    }
    return list_of(heap_, std::move(items), node.form);
}

Result<Value> Evaluator::value_of(const DictExpr& node) {
    Dict* dict = heap_.dict();
    for (const auto& [name, value] : node.entries) {
        KVIK_TRY(Value key, evaluate(*name));
        KVIK_TRY(Value held, evaluate(*value));
        KVIK_TRY(const std::string place, key_of(heap_.budget(), key));
        dict->set(place, std::move(key), std::move(held));
    }
    return Value(dict);
}

Result<Value> Evaluator::value_of(const Chain& node) {
    KVIK_TRY(Value first, evaluate(*node.first));
    return apply(node.steps, std::move(first));
}

Result<Value> Evaluator::value_of(const Not& node) {
    KVIK_TRY(const Value value, evaluate(*node.operand));
    return Value(!value.truthy());
}

Result<Value> Evaluator::value_of(const Sign& node) {
    KVIK_TRY(const Value value, evaluate(*node.operand));
    KVIK_TRY(Value negative, negated(value));
    return node.negative ? std::move(negative) : negated(negative);
}

Result<Value> Evaluator::value_of(const Arithmetic& node) {
    KVIK_TRY(Value result, evaluate(*node.first));
    for (const Arithmetic::Operand& operand : node.rest) {
        KVIK_TRY(const Value value, evaluate(*operand.value));
        Result<Value> next = jinja::apply(heap_, operand.op, result, value);
        if (!next) blame(operand.at);
        KVIK_TRY(result, std::move(next));
    }
    return result;
}

Result<Value> Evaluator::value_of(const Concat& node) {
    TextBuilder out(heap_.budget());
    for (const ExprPtr& part : node.parts) {
        KVIK_TRY(const Value value, evaluate(*part));
        KVIK_TRY_VOID(print(heap_, out, value));
    }
    return heap_.string(out);
}

Result<bool> Evaluator::holds(Relation relation, const Value& a, const Value& b) {
    if (relation == Relation::eq || relation == Relation::ne) {
        KVIK_TRY(const bool same, equal(heap_, a, b));
        return same == (relation == Relation::eq);
    }
    if (relation == Relation::in || relation == Relation::not_in) {
        KVIK_TRY(const bool found, contains(heap_, b, a));
        return found == (relation == Relation::in);
    }
    KVIK_TRY(const std::partial_ordering ordering, order(heap_, a, b));
    switch (relation) {
        case Relation::lt:
            return ordering < 0;
        case Relation::le:
            return ordering <= 0;
        case Relation::gt:
            return ordering > 0;
        default:
            return ordering >= 0;
    }
}

Result<Value> Evaluator::value_of(const Comparisons& node) {
    KVIK_TRY(Value left, evaluate(*node.first));
    for (const Comparisons::Operand& operand : node.rest) {
        KVIK_TRY(Value right, evaluate(*operand.value));
        KVIK_TRY(const bool held, holds(operand.relation, left, right));
        if (!held) return Value(false);
        left = std::move(right);
    }
    return Value(true);
}

Result<Value> Evaluator::value_of(const Logic& node) {
    Value value;
    for (const ExprPtr& operand : node.operands) {
        KVIK_TRY(value, evaluate(*operand));
        if (value.truthy() == (node.kind == Logic::Kind::any)) break;
    }
    return value;
}

Result<Value> Evaluator::value_of(const Conditional& node) {
    KVIK_TRY(const Value condition, evaluate(*node.condition));
    if (condition.truthy()) return evaluate(*node.then);
    if (node.otherwise) return evaluate(*node.otherwise);
    return Value();
}

}  // namespace kvik::jinja
