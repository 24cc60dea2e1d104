// tokenizer.json, tokenizer.model, vocab.json with merges.txt, and the files beside them that say what
// cannot be, or what kvik cannot do.
#include <fmt/format.h>

#include <span>
#include <string_view>

#include "testing/hostile_files.h"

namespace kvik {
namespace {

using Bytes = std::vector<std::byte>;
using Cases = std::vector<HostileFile>;

Bytes raw(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

constexpr std::string_view kVocab = R"({"a":0,"b":1,"ab":2})";
constexpr std::string_view kMerges = R"(["a b"])";
constexpr std::string_view kAdded = R"([{"id":3,"content":"<end>","special":true}])";
constexpr std::string_view kBytes = R"({"type":"ByteLevel","add_prefix_space":false})";

struct Fields {
    std::string_view vocab = kVocab;
    std::string_view merges = kMerges;
    std::string_view added = kAdded;
    std::string_view pre_tokenizer = kBytes;
    std::string_view more = "";        // of the file
    std::string_view more_model = "";  // of the model
};

std::string text_of(const Fields& fields) {
    return fmt::format(
        R"({{"added_tokens":{},"pre_tokenizer":{}{},"model":{{"type":"BPE","vocab":{},"merges":{}{}}}}})",
        fields.added, fields.pre_tokenizer, fields.more, fields.vocab, fields.merges,
        fields.more_model);
}

void add(Cases& cases, std::string about, std::string lie, std::string_view text) {
    cases.push_back({std::move(about), std::move(lie), {{"tokenizer.json", raw(text)}}, ""});
}

void add(Cases& cases, std::string about, std::string lie, const Fields& fields) {
    add(cases, std::move(about), std::move(lie), text_of(fields));
}

void tokens(Cases& cases) {
    const std::string about = "directory: tokens";
    const std::string sound = text_of({});
    add(cases, about, "nothing: it is cut in the middle", sound.substr(0, sound.size() / 2));
    add(cases, about, "a million open brackets", std::string(1'000'000, '['));
    add(cases, about, "no model", R"({"added_tokens":[]})");
    add(cases, about, "a vocabulary that is a list", {.vocab = "[]"});
    add(cases, about, "an id twice", {.vocab = R"({"a":0,"b":1,"ab":1})"});
    add(cases, about, "an id of 2^20", {.vocab = R"({"a":0,"b":1,"ab":1048576})", .added = "[]"});
    add(cases, about, "an id of 2^63", {.vocab = R"({"a":0,"b":1,"ab":9223372036854775808})"});
    add(cases, about, "an id of -1", {.vocab = R"({"a":0,"b":1,"ab":-1})"});
    add(cases, about, "an id that is text", {.vocab = R"({"a":0,"b":1,"ab":"2"})"});
    add(cases, about, "an added token with another's id",
        {.added = R"([{"id":2,"content":"<end>","special":true}])"});
    add(cases, about, "a token of the vocabulary added with another id",
        {.added = R"([{"id":1,"content":"ab"}])"});
    add(cases, about, "an added token without a name", {.added = R"([{"id":3,"content":""}])"});
    add(cases, about, "an added token that is a number", {.added = "[3]"});
    add(cases, about, "an added token for whole words",
        {.added = R"([{"id":3,"content":"cat","single_word":true}])"});
    add(cases, about, "an unknown token that is none", {.more_model = R"(,"unk_token":"?")"});
}

void merges(Cases& cases) {
    const std::string about = "directory: merges";
    add(cases, about, "a merge of one token", {.merges = R"(["ab"])"});
    add(cases, about, "a merge that is a number", {.merges = "[7]"});
    add(cases, about, "a merge of what is no token", {.merges = R"(["a c"])"});
    add(cases, about, "a merge into what is no token", {.merges = R"(["a b","ab a"])"});
    add(cases, about, "a merge that needs what it makes", {.merges = R"([["abab","ab"]])"});
    add(cases, about, "merges at random", {.more_model = R"(,"dropout":0.5)"});
}

void steps(Cases& cases) {
    const std::string about = "directory: what a tokenizer does";
    add(cases, about, "a model of words",
        R"({"model":{"type":"WordPiece","vocab":{}},"pre_tokenizer":null})");
    add(cases, about, "a normaliser that kvik has not",
        {.more = R"(,"normalizer":{"type":"Precompiled"})"});
    add(cases, about, "a text replaced by one of a megabyte",
        {.more = fmt::format(R"(,"normalizer":{{"type":"Replace","pattern":{{"String":"a"}},)"
                             R"("content":"{}"}})",
                             std::string(1 << 20, 'a'))});
    add(cases, about, "a pre-tokenizer that kvik has not",
        {.pre_tokenizer = R"({"type":"BertPreTokenizer"})"});
    add(cases, about, "an expression that two libraries read in two ways",
        {.pre_tokenizer = R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":)"
                          R"({"Regex":"\\w+"},"behavior":"Isolated"},{"type":"ByteLevel",)"
                          R"("add_prefix_space":false,"use_regex":false}]})"});
    add(cases, about, "a token before the text that is none",
        {.more = R"(,"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":)"
                 R"({"id":"x"}}],"special_tokens":{"x":{"ids":[9]}}})"});
    HostileFile ends{about,
                     "an end token whose id is text",
                     {{"tokenizer.json", raw(text_of({}))},
                      {"generation_config.json", raw(R"({"eos_token_id":[3,"4"]})")}},
                     ""};
    cases.push_back(std::move(ends));
    HostileFile named{about,
                      "an end token that is a list",
                      {{"tokenizer.json", raw(text_of({}))},
                       {"tokenizer_config.json", raw(R"({"eos_token":["</s>"]})")}},
                      ""};
    cases.push_back(std::move(named));
}

// A field of a protobuf message that holds bytes.
std::string field(char number, std::string_view bytes) {
    std::string made{static_cast<char>(number << 3 | 2)};
    size_t n = bytes.size();
    for (; n > 127; n >>= 7) made += static_cast<char>(0x80 | (n & 0x7F));
    return made + static_cast<char>(n) + std::string(bytes);
}

// A field that holds a number below 128.
std::string number(char number, char value) {
    return {static_cast<char>(number << 3), value};
}

void pieces(Cases& cases) {
    const auto put = [&](std::string lie, std::string_view bytes) {
        cases.push_back(
            {"directory: tokenizer.model", std::move(lie), {{"tokenizer.model", raw(bytes)}}, ""});
    };
    const auto piece = [](std::string_view text) { return field(1, field(1, text)); };
    const std::string unknown = field(1, field(1, "<unk>") + number(3, 2));
    const std::string plain = field(3, number(4, 0));
    put("nothing: it is empty", "");
    put("nothing: it is cut in the middle of a piece", unknown.substr(0, unknown.size() / 2));
    put("no pieces", plain);
    put("a field of 2^63 bytes", "\x0A\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01");
    put("a number without an end", std::string(64, '\xFF'));
    put("a group, which holds groups without an end", std::string(1000, '\x0B'));
    put("a piece of no bytes", unknown + piece("") + plain);
    put("a piece of a megabyte", unknown + piece(std::string(1 << 20, 'a')) + plain);
    put("a piece that is no UTF-8", unknown + piece("\xC3") + plain);
    put("a piece twice", unknown + piece("a") + piece("a") + plain);
    put("a piece of a kind that nobody knows",
        unknown + field(1, field(1, "a") + number(3, 7)) + plain);
    put("a score that is no number",
        unknown + field(1, field(1, "a") + std::string("\x15\0\0\xC0\x7F", 5)) + plain);
    put("an unknown token that is none",
        unknown + field(2, std::string("\xC0\x02\x09", 3)) + plain);
    put("a table of characters",
        unknown + field(3, number(4, 0) + field(1, "nmt_nfkc") + field(2, "xx")));
    put("spaces that are removed", unknown + field(3, number(4, 1)));
    put("a model of whole words", unknown + field(2, number(3, 3)) + plain);
}

void vocabularies(Cases& cases) {
    const auto put = [&](std::string lie, std::string_view vocab, std::string_view merge_list) {
        const std::string_view config = R"({"tokenizer_class":"GPT2Tokenizer"})";
        cases.push_back({"directory: vocab.json and merges.txt",
                         std::move(lie),
                         {{"vocab.json", raw(vocab)},
                          {"merges.txt", raw(merge_list)},
                          {"tokenizer_config.json", raw(config)}},
                         ""});
    };
    const std::string_view vocab = R"({"a":0,"b":1,"ab":2,"<|endoftext|>":3})";
    put("nothing: vocab.json is empty", "", "a b\n");
    put("nothing: vocab.json is cut", vocab.substr(0, 12), "a b\n");
    put("a million open brackets", std::string(1'000'000, '['), "a b\n");
    put("a vocabulary that is a list", "[]", "a b\n");
    put("an id twice", R"({"a":0,"b":1,"ab":1})", "a b\n");
    put("an id of 2^40", R"({"a":0,"b":1,"ab":1099511627776})", "a b\n");
    put("an id of -1", R"({"a":0,"b":1,"ab":-1})", "a b\n");
    put("a merge of one token", vocab, "ab\n");
    put("a merge of three tokens", vocab, "a b ab\n");
    put("a merge of what is no token", vocab, "a c\n");
    put("a merge that is no UTF-8", vocab, "a \xC3\n");
    put("a line of a megabyte", vocab, "a " + std::string(1 << 20, 'b') + "\n");
}

}  // namespace

std::vector<HostileFile> hostile_tokenizers() {
    Cases cases;
    tokens(cases);
    merges(cases);
    steps(cases);
    pieces(cases);
    vocabularies(cases);
    return cases;
}

}  // namespace kvik
