#include "text/chat_template.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/interpreter.h"
#include "text/jinja/json_read.h"
#include "text/jinja/parser.h"
#include "text/jinja/sequence.h"

namespace kvik {
namespace {

using jinja::Heap;
using jinja::Value;

MarkedText untrusted(std::string_view text) {
    MarkedText out{std::string(text), {}};
    if (!text.empty()) out.untrusted.push_back({0, text.size()});
    return out;
}

Result<Value> value_of(Heap& heap, const TemplateField& field) {
    Result<Value> value = read_json(heap, untrusted(field.json));
    if (!value) {
        return fail(ErrorKind::usage,
                    fmt::format("chat template: '{}': {}", field.name, value.error().message));
    }
    return value;
}

void set(jinja::Dict& dict, std::string_view name, Value value) {
    dict.set(jinja::key_of(name), jinja::make_str(name), std::move(value));
}

// A role is a word that the caller knows; anything else could be a control token's spelling.
bool is_word(std::string_view role) {
    return std::all_of(role.begin(), role.end(), [](char c) {
        return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
               c == '-' || c == ' ';
    });
}

// What a model thought has three names, by which clients give it and templates ask for it.
jinja::Dict* with_reasoning(Heap& heap, jinja::Dict& message) {
    const Value* thought = nullptr;
    for (const char* name : {"reasoning_content", "thinking", "reasoning"})
        if (!thought) thought = message.find(name);
    if (!thought) return &message;
    jinja::Dict* dict = heap.dict();
    set(*dict, "thinking", *thought);
    for (const jinja::Dict::Entry& entry : message.entries())
        dict->set(jinja::key_of(entry.key.str()->view()), entry.key, entry.value);
    set(*dict, "reasoning_content", *thought);
    return dict;
}

Result<Value> value_of(Heap& heap, const ChatMessage& message) {
    jinja::Dict* dict = heap.dict();
    set(*dict, "role",
        is_word(message.role) ? jinja::make_str(message.role)
                              : jinja::make_str(untrusted(message.role)));
    set(*dict, "content", jinja::make_str(untrusted(message.content)));
    for (const TemplateField& field : message.fields) {
        KVIK_TRY(Value value, value_of(heap, field));
        // A template would write "None"; it is made for a field that is not there.
        if (value.is<jinja::None>())
            dict->erase(jinja::key_of(field.name));
        else
            set(*dict, field.name, std::move(value));
    }
    return Value(with_reasoning(heap, *dict));
}

Result<jinja::RenderInputs> inputs_on(Heap& heap, const TemplateInputs& inputs) {
    jinja::RenderInputs out;
    std::vector<Value> messages;
    for (const ChatMessage& message : inputs.messages) {
        KVIK_TRY(Value value, value_of(heap, message));
        messages.push_back(std::move(value));
    }
    KVIK_TRY(Value list, list_of(heap, std::move(messages)));
    out.variables.emplace_back("messages", std::move(list));
    out.variables.emplace_back("add_generation_prompt", inputs.add_generation_prompt);
    out.variables.emplace_back("bos_token", jinja::make_str(inputs.bos_token));
    out.variables.emplace_back("eos_token", jinja::make_str(inputs.eos_token));
    out.variables.emplace_back("tools", jinja::None{});
    out.variables.emplace_back("documents", jinja::None{});
    for (const TemplateField& field : inputs.variables) {
        KVIK_TRY(Value value, value_of(heap, field));
        out.variables.emplace_back(field.name, std::move(value));
    }
    if (inputs.now) out.now = inputs.now->time_since_epoch().count();
    return out;
}

}  // namespace

struct ChatTemplate::Program {
    std::string source;
    jinja::Program program;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Program> program) : program_(std::move(program)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::compile(std::string source) {
    KVIK_TRY(jinja::Program parsed, jinja::parse(source, jinja::Limits{}));
    return ChatTemplate(std::make_unique<Program>(Program{std::move(source), std::move(parsed)}));
}

const std::string& ChatTemplate::source() const {
    return program_->source;
}

Result<MarkedText> ChatTemplate::render(const TemplateInputs& inputs) const {
    Heap heap((jinja::Limits()));
    KVIK_TRY(const jinja::RenderInputs variables, inputs_on(heap, inputs));
    return jinja::render(program_->program, heap, variables);
}

}  // namespace kvik
