#include "model/hf_tokenizer_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "text/pretokenizer_patterns.h"
#include "text/tokenizer_specials.h"
#include "text/utf8.h"

namespace kvik {
namespace {

constexpr size_t kMaxSteps = 32;

Result<std::string> type_of(const HfJson& step) {
    KVIK_TRY(const HfJson type, step.require("type"));
    return type.as_text();
}

Result<std::vector<HfJson>> steps_of(const HfJson& sequence, std::string_view key) {
    KVIK_TRY(const HfJson list, sequence.require(key));
    KVIK_TRY(const size_t n, list.size());
    if (n > kMaxSteps)
        return list.unsupported(fmt::format("has {} steps, {} can be used", n, kMaxSteps));
    std::vector<HfJson> steps;
    for (size_t i = 0; i < n; ++i) steps.push_back(list.at(i));
    return steps;
}

std::string escaped(std::string_view literal) {
    std::string regex;
    for (char c : literal) {
        if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) regex += '\\';
        regex += c;
    }
    return regex;
}

class StepReader {
  public:
    Result<HfSteps> read(const HfJson& root) {
        KVIK_TRY(const std::optional<HfJson> normalizer, root.find("normalizer"));
        if (normalizer) KVIK_TRY_VOID(normalize(*normalizer));
        KVIK_TRY(const std::optional<HfJson> pre_tokenizer, root.find("pre_tokenizer"));
        if (pre_tokenizer) KVIK_TRY_VOID(pre_tokenize(*pre_tokenizer));
        KVIK_TRY(const std::optional<HfJson> post_processor, root.find("post_processor"));
        if (post_processor) KVIK_TRY_VOID(post_process(*post_processor));
        KVIK_TRY(const std::optional<HfJson> decoder, root.find("decoder"));
        if (decoder) KVIK_TRY_VOID(decode(*decoder));
        return std::move(steps_);
    }

  private:
    Result<void> normalize(const HfJson& step) {
        KVIK_TRY(const std::string type, type_of(step));
        if (type == "Sequence") {
            KVIK_TRY(const std::vector<HfJson> list, steps_of(step, "normalizers"));
            for (const HfJson& one : list) KVIK_TRY_VOID(normalize(one));
            return {};
        }
        if (steps_.normalizer.size() == kMaxSteps)
            return step.unsupported("is one step too many of normalisation");
        if (type == "NFC") {
            steps_.normalizer.push_back({NormalizerStep::Kind::nfc});
        } else if (type == "Prepend") {
            KVIK_TRY(std::string prepend, step.text("prepend"));
            if (prepend.find(' ') != std::string::npos && steps_.marks_spaces)
                return step.unsupported("prepends a space after spaces were replaced");
            steps_.normalizer.push_back({NormalizerStep::Kind::prepend, "", std::move(prepend)});
        } else if (type == "Replace") {
            return replace(step);
        } else {
            return step.unsupported(fmt::format("has the normaliser '{}'", shown(type)));
        }
        return {};
    }

    Result<void> replace(const HfJson& step) {
        KVIK_TRY(const HfJson pattern, step.require("pattern"));
        KVIK_TRY(const std::optional<HfJson> literal, pattern.find("String"));
        if (!literal) return pattern.unsupported("is a regular expression to replace");
        KVIK_TRY(std::string from, literal->as_text());
        if (from.empty()) return literal->lie("is empty");
        KVIK_TRY(const HfJson content, step.require("content"));
        KVIK_TRY(std::string to, content.as_text());
        // From here on the tokenizer takes U+2581 and spaces for the same, which is no change to
        // a text that has only one of them.
        if (steps_.marks_spaces) return step.unsupported("replaces after spaces were replaced");
        if (from == " " && to == kSpaceMark)
            steps_.marks_spaces = true;
        else
            steps_.normalizer.push_back(
                {NormalizerStep::Kind::replace, std::move(from), std::move(to)});
        return {};
    }

    Result<void> pre_tokenize(const HfJson& step) {
        KVIK_TRY(const std::string type, type_of(step));
        if (type == "Sequence") {
            KVIK_TRY(const std::vector<HfJson> list, steps_of(step, "pretokenizers"));
            for (const HfJson& one : list) KVIK_TRY_VOID(pre_tokenize(one));
            return {};
        }
        if (steps_.is_byte_level || is_metaspace_)
            return step.unsupported(
                fmt::format("has the pre-tokenizer '{}' after the last one", shown(type)));
        if (steps_.splits.size() == kMaxSteps)
            return step.unsupported("is one pre-tokenizer too many");
        if (type == "ByteLevel") return byte_level(step);
        if (type == "Metaspace") return metaspace(step);
        if (type == "Split") return split(step);
        if (type == "Digits") {
            KVIK_TRY(const bool one_by_one, step.flag("individual_digits", false));
            steps_.splits.emplace_back(kDigitSplit);
            if (!one_by_one) steps_.splits.back() += '+';
            return {};
        }
        return step.unsupported(fmt::format("has the pre-tokenizer '{}'", shown(type)));
    }

    Result<void> byte_level(const HfJson& step) {
        KVIK_TRY(const bool has_prefix, step.flag("add_prefix_space", true));
        KVIK_TRY(const bool has_split, step.flag("use_regex", true));
        if (has_prefix && !steps_.splits.empty())
            return step.unsupported("puts a space before every piece of another pre-tokenizer");
        steps_.is_byte_level = true;
        if (has_prefix) steps_.space_prefix = SpacePrefix::always;
        if (has_split) steps_.splits.emplace_back(kGpt2Split);
        return {};
    }

    Result<void> metaspace(const HfJson& step) {
        if (!steps_.splits.empty())
            return step.unsupported("has the pre-tokenizer 'Metaspace' after another one");
        KVIK_TRY(const HfJson mark, step.require("replacement"));
        KVIK_TRY(const std::string replacement, mark.as_text());
        if (replacement != kSpaceMark)
            return mark.unsupported(fmt::format("is '{}', not U+2581", shown(replacement)));
        KVIK_TRY(std::string scheme, step.text("prepend_scheme"));
        KVIK_TRY(const bool has_prefix, step.flag("add_prefix_space", true));
        if (scheme.empty()) scheme = has_prefix ? "always" : "never";
        if (scheme == "always")
            steps_.space_prefix = SpacePrefix::always;
        else if (scheme == "first")
            steps_.space_prefix = SpacePrefix::start;
        else if (scheme != "never")
            return step.unsupported(fmt::format("has the prepend_scheme '{}'", shown(scheme)));
        KVIK_TRY(steps_.splits_at_spaces, step.flag("split", true));
        steps_.marks_spaces = true;
        is_metaspace_ = true;
        return {};
    }

    Result<void> split(const HfJson& step) {
        KVIK_TRY(const HfJson pattern, step.require("pattern"));
        KVIK_TRY(const std::optional<HfJson> literal, pattern.find("String"));
        KVIK_TRY(const std::optional<HfJson> regex, pattern.find("Regex"));
        if (!literal && !regex) return pattern.unsupported("is neither a String nor a Regex");
        KVIK_TRY(std::string source, literal ? literal->as_text() : regex->as_text());
        KVIK_TRY(const HfJson behavior, step.require("behavior"));
        KVIK_TRY(const std::string how, behavior.as_text());
        KVIK_TRY(const bool invert, step.flag("invert", false));
        // No space is left to split at.
        if (literal && source == " " && steps_.marks_spaces) return {};
        const bool is_whole_text =
            regex && std::find(kWholeTextSplits.begin(), kWholeTextSplits.end(), source) !=
                         kWholeTextSplits.end();
        if (how != "Isolated" && !(how == "Removed" && invert && is_whole_text))
            return behavior.unsupported(
                fmt::format("is '{}'{}", shown(how), invert ? " with invert" : ""));
        if (source.empty()) return pattern.lie("is empty");
        steps_.splits.push_back(literal ? escaped(source) : std::move(source));
        return {};
    }

    Result<void> post_process(const HfJson& step) {
        KVIK_TRY(const std::string type, type_of(step));
        if (type == "Sequence") {
            KVIK_TRY(const std::vector<HfJson> list, steps_of(step, "processors"));
            for (const HfJson& one : list) KVIK_TRY_VOID(post_process(one));
            return {};
        }
        if (type == "ByteLevel") return {};
        if (type == "TemplateProcessing") return frame(step);
        return step.unsupported(fmt::format("has the post-processor '{}'", shown(type)));
    }

    // What stands before the text; what comes after it is for training and not added.
    Result<void> frame(const HfJson& step) {
        KVIK_TRY(const std::vector<HfJson> parts, steps_of(step, "single"));
        for (const HfJson& part : parts) {
            KVIK_TRY(const std::optional<HfJson> special, part.find("SpecialToken"));
            if (!special) return {};
            if (steps_.bos) return part.unsupported("is a second token before the text");
            KVIK_TRY(const HfJson name_at, special->require("id"));
            KVIK_TRY(const std::string name, name_at.as_text());
            KVIK_TRY(const HfJson specials, step.require("special_tokens"));
            KVIK_TRY(const HfJson token, specials.require(name));
            KVIK_TRY(const HfJson ids, token.require("ids"));
            KVIK_TRY(const size_t n, ids.size());
            if (n != 1) return ids.unsupported(fmt::format("has {} ids, not one", n));
            steps_.bos = ids.at(0);
        }
        return {};
    }

    Result<void> decode(const HfJson& step) {
        constexpr std::array<std::string_view, 6> kKnown = {"ByteLevel", "Replace", "ByteFallback",
                                                            "Fuse",      "Strip",   "Metaspace"};
        KVIK_TRY(const std::string type, type_of(step));
        if (type == "Sequence") {
            KVIK_TRY(const std::vector<HfJson> list, steps_of(step, "decoders"));
            for (const HfJson& one : list) KVIK_TRY_VOID(decode(one));
            return {};
        }
        if (std::find(kKnown.begin(), kKnown.end(), type) != kKnown.end()) return {};
        return step.unsupported(fmt::format("has the decoder '{}'", shown(type)));
    }

    HfSteps steps_;
    bool is_metaspace_ = false;
};

}  // namespace

Result<HfSteps> read_hf_steps(const HfJson& root) {
    return StepReader().read(root);
}

}  // namespace kvik
