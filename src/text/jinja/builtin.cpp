#include "text/jinja/builtin.h"

#include <fmt/format.h>

#include "text/jinja/text_ops.h"

namespace kvik::jinja {
namespace {

const Builtin* find(std::span<const Builtin> table, std::string_view name) {
    for (const Builtin& row : table) {
        if (row.name == name) return &row;
    }
    return nullptr;
}

struct Parameter {
    std::string_view name;
    bool optional = false;
};

std::vector<Parameter> parameters_of(const Builtin& builtin) {
    std::vector<Parameter> out;
    std::string_view left = builtin.parameters;
    while (!left.empty()) {
        const size_t end = std::min(left.find(' '), left.size());
        std::string_view name = left.substr(0, end);
        const bool optional = name.ends_with('?');
        if (optional) name.remove_suffix(1);
        out.push_back({name, optional});
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return out;
}

Result<std::vector<const Value*>> bind(const Builtin& builtin, const CallArgs& given) {
    const std::vector<Parameter> parameters = parameters_of(builtin);
    std::vector<const Value*> slots(parameters.size());
    if (given.positional.size() > slots.size()) {
        return type_error(fmt::format("'{}' takes at most {} arguments, {} are given", builtin.name,
                                      slots.size(), given.positional.size()));
    }
    for (size_t i = 0; i < given.positional.size(); ++i) slots[i] = &given.positional[i];
    for (const auto& [name, value] : given.named) {
        size_t i = 0;
        while (i < parameters.size() && parameters[i].name != name) ++i;
        if (i == parameters.size() || slots[i]) {
            return type_error(
                fmt::format("'{}' has no argument '{}', or it is given twice", builtin.name, name));
        }
        slots[i] = &value;
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (!slots[i] && !parameters[i].optional) {
            return type_error(
                fmt::format("'{}' needs an argument '{}'", builtin.name, parameters[i].name));
        }
    }
    return slots;
}

}  // namespace

Result<int64_t> Args::integer(size_t i, int64_t otherwise) const {
    if (!has(i)) return otherwise;
    if (const auto n = slots[i]->integer()) return *n;
    if (slots[i]->is<BigPtr>())
        return type_error(fmt::format("argument {} does not fit 64 bits", i + 1));
    return type_error(fmt::format("argument {} is {}, not an int", i + 1, slots[i]->type_name()));
}

Result<StrPtr> Args::text(size_t i, std::string_view otherwise) const {
    if (!has(i) || slots[i]->is<None>()) return make_str(otherwise);
    if (const StrPtr* s = slots[i]->get_if<StrPtr>()) return *s;
    return type_error(fmt::format("argument {} is {}, not a str", i + 1, slots[i]->type_name()));
}

static Result<Value> call_plain(Heap& heap, const Builtin& builtin, const Value& self,
                                const CallArgs& given) {
    KVIK_TRY_VOID(heap.budget().steps());
    if (builtin.parameters == "*") return builtin.function({heap, self, given, {}});
    KVIK_TRY(auto slots, bind(builtin, given));
    return builtin.function({heap, self, given, std::move(slots)});
}

Result<Value> call(Heap& heap, const Builtin& builtin, const Value& self, const CallArgs& given) {
    Result<Value> made = call_plain(heap, builtin, self, given);
    const std::span<const Builtin> methods = text_methods();
    const bool is_method = &builtin >= methods.data() && &builtin < methods.data() + methods.size();
    return is_method ? markup_as(*self.str(), std::move(made)) : made;
}

const Builtin* find_filter(std::string_view name) {
    for (const auto table :
         {text_filters(), sequence_filters(), choice_filters(), value_filters()}) {
        if (const Builtin* row = find(table, name)) return row;
    }
    return nullptr;
}

const Builtin* find_test(std::string_view name) {
    return find(tests(), name);
}

const Builtin* find_method(const Value& self, std::string_view name) {
    if (self.str()) return find(text_methods(), name);
    if (self.list()) return find(list_methods(), name);
    if (self.dict()) return find(dict_methods(), name);
    if (self.is<Loop*>()) return find(loop_methods(), name);
    return nullptr;
}

}  // namespace kvik::jinja
