// Whole templates, in the manner of those that models carry, over whole conversations: they write
// what jinja2 writes (tests/golden/jinja_chats.json), and no one in a conversation writes a control
// token.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <span>

#include "base/digest.h"
#include "text/chat_template.h"

namespace kvik {
namespace {

using Json = nlohmann::ordered_json;

std::string content_of(const std::string& path) {
    std::ifstream file(KVIK_SOURCE_DIR "/tests/" + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

Json golden() {
    return Json::parse(content_of("golden/jinja_chats.json"));
}

std::string source_of(const std::string& name) {
    return content_of("corpus/chat_template/" + name + ".jinja");
}

// A conversation as a client of ChatTemplate gives it.
TemplateInputs inputs_of(const Json& conversation, bool add_generation_prompt = true) {
    TemplateInputs inputs;
    inputs.add_generation_prompt = add_generation_prompt;
    inputs.now = std::chrono::local_seconds(std::chrono::seconds(1721999045));
    for (const auto& [name, value] : conversation.items()) {
        if (name == "bos_token") {
            inputs.bos_token = value;
        } else if (name == "eos_token") {
            inputs.eos_token = value;
        } else if (name != "messages" && name != "add_generation_prompt") {
            inputs.variables.push_back({name, value.dump()});
        }
    }
    for (const Json& each : conversation.at("messages")) {
        ChatMessage message{each.at("role"), ""};
        for (const auto& [name, value] : each.items())
            if (name != "role") message.fields.push_back({name, value.dump()});
        inputs.messages.push_back(std::move(message));
    }
    return inputs;
}

std::string digest_of(const std::string& text) {
    Sha256 sha;
    sha.update(std::as_bytes(std::span(text)));
    return sha.hex().substr(0, 12);
}

TEST(ChatCorpus, renders_every_conversation_as_jinja2_does) {
    const Json golden_texts = golden();
    size_t n = 0, n_errors = 0;
    for (const auto& [name, digests] : golden_texts.at("texts").items()) {
        const auto made = ChatTemplate::compile(source_of(name));
        ASSERT_TRUE(made) << made.error().message;
        size_t at = 0;
        for (const Json& conversation : golden_texts.at("conversations")) {
            for (const bool prompt : {true, false}) {
                const auto text = made->render(inputs_of(conversation, prompt));
                const Json& expected = digests.at(at++);
                if (expected.is_null()) {
                    EXPECT_FALSE(text) << name << " " << at - 1 << "\n" << text->text;
                    ++n_errors;
                    continue;
                }
                ASSERT_TRUE(text) << name << " " << at - 1 << "\n" << text.error().message;
                EXPECT_EQ(digest_of(text->text), expected.get<std::string>())
                    << "jinja_chats.py --show " << name << " " << at - 1 << "\n"
                    << text->text;
                ++n;
            }
        }
        EXPECT_EQ(at, digests.size());
    }
    std::cout << n << " texts are equal to jinja2's, " << n_errors << " fail as there\n";
    EXPECT_GE(n, 500u);
}

// The strings that people and tools write, changed one by one: all but roles and the words by which
// a template knows what a value is.
using Change = std::function<std::string(const std::string&)>;

void change_strings(Json& value, const Change& change, bool keys_too = false) {
    if (value.is_string()) {
        value = change(value.get<std::string>());
    } else if (value.is_array()) {
        for (Json& each : value) change_strings(each, change);
    } else if (value.is_object()) {
        Json changed = Json::object();
        for (auto& [key, inner] : value.items()) {
            const bool given = key == "arguments" || key == "properties" || key == "controls";
            if (key != "role" && key != "type") change_strings(inner, change, given);
            changed[keys_too ? change(key) : key] = std::move(inner);
        }
        value = std::move(changed);
    }
}

Json changed(Json conversation, const Change& change) {
    for (auto& [name, value] : conversation.items())
        if (name != "bos_token" && name != "eos_token")
            change_strings(value, change, name == "controls");
    return conversation;
}

// Every letter becomes a Cyrillic one, which no template of the corpus has.
std::string cyrillic(const std::string& text) {
    std::string out;
    for (const char c : text) out += (c & 0x20) ? "\xD0\xB6" : "\xD0\xAF";
    return out;
}

TEST(ChatCorpus, calls_every_byte_of_a_conversation_untrusted) {
    const Json all = golden();
    size_t n_bytes = 0;
    for (const auto& [name, digests] : all.at("texts").items()) {
        const auto made = ChatTemplate::compile(source_of(name));
        for (const Json& conversation : all.at("conversations")) {
            const auto text = made->render(inputs_of(changed(conversation, cyrillic)));
            if (!text) continue;
            size_t next = 0;
            for (size_t i = 0; i < text->text.size(); ++i) {
                if ((text->text[i] & 0x80) == 0) continue;
                ++n_bytes;
                while (next < text->untrusted.size() && text->untrusted[next].end <= i) ++next;
                ASSERT_TRUE(next < text->untrusted.size() && text->untrusted[next].begin <= i)
                    << name << ", byte " << i << " of\n"
                    << text->text;
            }
        }
    }
    EXPECT_GE(n_bytes, 20'000u);
}

// What a template writes that a vocabulary may have as one token.
std::set<std::string> control_spellings(const std::string& source) {
    static const std::regex kShape(R"(<\|?/?[A-Za-z_]{2,40}\|?>|\[/?[A-Z_]{2,40}\])");
    std::set<std::string> out;
    for (std::sregex_iterator at(source.begin(), source.end(), kShape), end; at != end; ++at)
        out.insert(at->str());
    // Those that are put together from pieces.
    for (const char* word : {"user", "assistant", "system", "tool", "im_end", "USER_TOKEN"})
        out.insert("<|" + std::string(word) + "|>");
    for (const char* word : {"<s>", "</s>", "<|START_OF_TURN_TOKEN|>", "<|SYSTEM_TOKEN|>"})
        out.insert(word);
    return out;
}

std::unique_ptr<Tokenizer> tokenizer_with(const std::set<std::string>& controls) {
    TokenizerSpec spec;
    spec.model = "llama";
    for (int byte = 0; byte < 256; ++byte) {
        constexpr char kHex[] = "0123456789ABCDEF";
        spec.tokens.push_back(std::string("<0x") + kHex[byte >> 4] + kHex[byte & 15] + ">");
        spec.types.push_back(TokenType::byte);
    }
    for (const std::string& each : controls) {
        spec.tokens.push_back(each);
        spec.types.push_back(TokenType::control);
    }
    spec.scores.resize(spec.tokens.size());
    return std::move(*make_tokenizer(std::move(spec)));
}

std::vector<TokenId> controls_in(const Tokenizer& tokenizer, const MarkedText& text) {
    std::vector<TokenId> out;
    for (const TokenId id : tokenizer.encode(text))
        if (tokenizer.is_control(id)) out.push_back(id);
    return out;
}

// Around every string: each control token as it is, in upper case, as JSON escapes it, and torn so
// that its halves lie at the ends.
std::string planted(const std::set<std::string>& controls) {
    std::string out = "|>end|> ";
    for (const std::string& each : controls) {
        // By these the templates find what they take apart.
        if (each.find("think") != each.npos || each == "<|channel|>") continue;
        std::string upper = each;
        for (char& c : upper) c = static_cast<char>(std::toupper(c));
        out += each + upper + "\\u003c" + each.substr(1);
    }
    return out + " <|im_";
}

TEST(ChatCorpus, lets_no_one_in_a_conversation_write_a_control_token) {
    const Json all = golden();
    size_t n_texts = 0, n_controls = 0;
    for (const auto& [name, digests] : all.at("texts").items()) {
        const auto made = ChatTemplate::compile(source_of(name));
        const std::set<std::string> controls = control_spellings(source_of(name));
        const auto tokenizer = tokenizer_with(controls);
        const std::string plant = planted(controls);
        const std::string neutral(plant.size(), 'z');
        for (const Json& conversation : all.at("conversations")) {
            const auto around = [](const std::string& with) -> Change {
                return [&with](const std::string& text) { return with + text + with; };
            };
            const auto text = made->render(inputs_of(changed(conversation, around(plant))));
            const auto plain = made->render(inputs_of(changed(conversation, around(neutral))));
            ASSERT_EQ(text.has_value(), plain.has_value()) << name << "\n" << conversation;
            if (!text) continue;
            ++n_texts;
            const auto expected = controls_in(*tokenizer, *plain);
            n_controls += expected.size();
            EXPECT_EQ(controls_in(*tokenizer, *text), expected) << name << "\n" << text->text;
        }
    }
    EXPECT_GE(n_texts, 200u);
    EXPECT_GE(n_controls, 2000u);
}

}  // namespace
}  // namespace kvik
