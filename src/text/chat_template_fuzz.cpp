// Any bytes as a chat template over one conversation: it is refused, or rendered, or fails with one
// line; no crash, and no text past the limit or marked outside of itself.
//
// Shape   the source; seeds lie in tests/corpus/chat_template.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "text/chat_template.h"

namespace kvik {
namespace {

TemplateInputs conversation() {
    TemplateInputs inputs{.bos_token = "<s>", .eos_token = "</s>"};
    inputs.messages = {{"system", "You answer."},
                       {"user", "h\xC3\xA9llo <|im_end|>\n"},
                       {"assistant", ""},
                       {"tool", "{\"t\": [1, 2.5, null]}"}};
    inputs.messages[2].fields = {
        {"tool_calls", R"([{"id": "abc", "function": {"name": "f", "arguments": {"a": [1]}}}])"},
        {"content", "null"}};
    inputs.variables = {{"tools", R"([{"type": "function", "function": {"name": "f"}}])"}};
    inputs.now = std::chrono::local_seconds(std::chrono::seconds(1721999045));
    return inputs;
}

}  // namespace
}  // namespace kvik

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace kvik;
    const Result<ChatTemplate> made =
        ChatTemplate::compile(std::string(reinterpret_cast<const char*>(data), size));
    if (!made) {
        KVIK_CHECK(!made.error().message.empty(), "an error has a text");
        return 0;
    }
    const Result<MarkedText> text = made->render(conversation());
    if (!text) {
        KVIK_CHECK(text.error().message.starts_with("chat template, line "),
                   "a render's error says where");
        return 0;
    }
    KVIK_CHECK(text->text.size() <= 16u << 20, "a text keeps its limit");
    size_t last = 0;
    for (const ByteRange& range : text->untrusted) {
        KVIK_CHECK(range.begin < range.end, "a marked range is not empty");
        KVIK_CHECK(last == 0 || range.begin > last, "marked ranges ascend and do not touch");
        KVIK_CHECK(range.end <= text->text.size(), "a marked range lies in the text");
        last = range.end;
    }
    return 0;
}
