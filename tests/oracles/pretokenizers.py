#!/usr/bin/env python3
"""Where the patterns of GGUF's tokenizer.ggml.pre cut a text, as the `tokenizers` package cuts it.

    python tests/oracles/pretokenizers.py [--write]

Needs tokenizers 0.22 or later. Records tests/golden/tokenizers/pretokenizers.json, or compares with it;
src/text/pretokenizer_golden_test.cpp holds kvik to the record. Which name has which pattern is as llama.cpp
has it (llama_cpp_python 0.3.36); a pattern is written as the model's own tokenizer.json writes it.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests/golden/tokenizers/pretokenizers.json"

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = f"{CONTRACTIONS}|{WORD}|\\p{{N}}{{1,3}}|{SIGNS}|{SPACES}"
QWEN2 = f"{CONTRACTIONS}|{WORD}|\\p{{N}}|{SIGNS}|{SPACES}"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
BEFORE = r"[^\r\n\p{L}\p{N}]?"
SLASHES = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
BLOOM = " ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"


def cased(after, numbers):
    return (f"{BEFORE}{UPPER}*{LOWER}+{after}|{BEFORE}{UPPER}+{LOWER}*{after}|{numbers}|{SLASHES}|{SPACES}")


# Letters that have a case, as the file has them.
DEEPSEEK_LLM_LETTERS = (
    "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-"
    "\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-"
    "\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-"
    "\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-"
    "\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-"
    "\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    "\U000118a0-\U000118df\U0001e900-\U0001e943]+")


PATTERNS = {
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "gpt2 gpt-2 phi-2 jina-es jina-de jina-v2-es jina-v2-de gigachat a.x-4.0 mellum modern-bert mpt olmo jais "
    "trillion granite-docling exaone4": [GPT2],
    "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2": [r"\p{N}", GPT2],
    "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano glm4 glm5 chatglm-bpe dbrx "
    "smaug-bpe": [LLAMA3],
    "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2": [QWEN2],
    "qwen35": [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + SPACES],
    "tekken": [cased("", r"\p{N}")],
    "gpt-4o llama4 kanana2 talkie minimax-m2": [cased(CONTRACTIONS + "?", r"\p{N}{1,3}")],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "poro-chat bloom gpt3-finnish": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
                       r"\p{N}"],
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": [
        r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+[\r\n]*|" + SPACES],
    "bailingmoe bailingmoe2 llada-moe": [
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
        r"|\s+(?!\S)|\s+"],
    "seed-coder": [f"{CONTRACTIONS}|{WORD}" + r"|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + SPACES],
    "ufakzeka": [f"{WORD}|\\p{{N}}|{SIGNS}|{SPACES}"],
    "laguna": [r"[^\n]+|[\n]+", QWEN2],
    "granite-embed-multi-97m": [cased(CONTRACTIONS + "?", r"\p{N}{1,3}")],
    "deepseek-llm": [r"[\r\n]", DEEPSEEK_LLM_LETTERS, "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$",
                     "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}+"],
    "spark2_5": [
        r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
        r"| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+", r"\p{N}"],
    "youtu": ["[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+"
              "|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", cased(CONTRACTIONS + "?", r"\p{N}")],
    "jais-2": [f"{CONTRACTIONS}|{WORD}|\\p{{N}}{{1,3}}|{SIGNS}|" + r"\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)"
               r"|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"],
    "exaone-moe": [CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
                   r"|\s*[\r\n]|\s+(?!\S)|\s+"],
    "chameleon": ["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", r"\p{N}",
                  r"[\p{P}!-/:-@\[-`{-~]", GPT2],
    "minicpm5": [r"\p{N}{1,3}", f"{CONTRACTIONS}|{WORD}|\\p{{N}}+|{SIGNS}|{SPACES}"],
}

TEXTS = [
    "Hello world, it's 1234567 o'clock; DON'T we'LL I'M they've.",
    "  two  spaces\tand\ttabs   \n\n  lines\r\n\r\n   x \n",
    "HTMLPage camelCase XMLHttpRequest's ABC'S iPhone15Pro",
    "a=b+c<d>e^f~g|h`i`$5 (x) [y] {z} \"quoted\" 'single' it''s",
    "#include <a/b.h>//\n/* 3.14e-10 */ path/to/file/ ...!?!\n",
    "na\u00efve cafe\u0301 stra\u00dfe \u01c5ungla \u00c9COLE \u02b0x",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u6771\u4eac\u306f\u3068\u3066\u3082 \uc548\ub155\ud558\uc138\uc694 123\u5e74",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0964 \u0645\u0631\u062d\u0628\u0627\u060c \u0661\u0662\u0663\u0664 \u06d4",
    "\U0001f600\U0001f680 ok\U0001f44d\U0001f3fd \u00bd \u00b2 \u2167 \u2460\u2461 \u2026 \u2014",
    "\u00a0nbsp\u2003em\u3000wide\u180e! \u200b",
    "0 00 000 0000 1,000,000.00 x2y33z444",
    "<sentinel:12> IMGIMGABZ IMGIMGABCDEZ \u3105\u3106 \u201cq\u201d\u2026 \u0440\u0443\u0441 \u10a0\u13a0 \u02b0 \u03b1\u0384",
    "x" + " " * 700 + "y\t\t" + " " * 9 + "\n \n    \n" + " " * 5,
    " ", "\n", "a", "'", "'s", "    x",
]


def computed():
    import tokenizers
    from tokenizers import Regex, pre_tokenizers
    rows = {}
    for names, splits in PATTERNS.items():
        steps = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(split), "isolated") for split in splits])
        ends = [[len(text[:end].encode()) for _, (_, end) in steps.pre_tokenize_str(text)] for text in TEXTS]
        for name in names.split():
            rows[name] = ends
    return {"made_by": f"tokenizers {tokenizers.__version__}, tests/oracles/pretokenizers.py",
            "texts": TEXTS, "ends": rows}


def main():
    now = computed()
    if "--write" in sys.argv[1:]:
        RECORD.write_text(json.dumps(now, indent=0, separators=(",", ":")).replace(",\n", ",").replace("],\"", "],\n\"") + "\n")
        return 0
    was = json.loads(RECORD.read_text())
    same = was["ends"] == now["ends"] and was["texts"] == now["texts"]
    print(f"{len(now['ends'])} names, {len(TEXTS)} texts: {'the same ends' if same else 'ends differ'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
