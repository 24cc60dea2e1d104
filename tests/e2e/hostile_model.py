"""A tiny GGUF that loads and answers, whose every text tries to steer the terminal it is shown on."""
from tiny_gguf import F32, I32, STRING, U32, WIDTH, llama_metadata, llama_tensors, write_file

# Each draws, moves, retitles or reorders: C0, DEL, C1, the direction controls. All of it is UTF-8.
STEERS = ("\x1b[2J", "\x1b]0;owned\x07", "\r", "\b\b", "\x7f", "\u009b31m", "\u0085", "\u202e", "\u202a",
          "\u2066", "\u2069")
HOSTILE = "".join(STEERS)
TEMPLATE = ("{# " + HOSTILE + " #}{% for m in messages %}<" + HOSTILE + ">{{ m['content'] }}"
            "{% endfor %}" + HOSTILE)


def tokens():
    """Unknown, start and end, the 256 bytes, then pieces; (text, score, kind)."""
    special = [("<unk>", 0.0, 2), ("<s>" + HOSTILE, 0.0, 3), ("</s>" + HOSTILE, 0.0, 3)]
    parts = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    pieces = [(f"word{i}{steer}", -1.0 - i, 1) for i, steer in enumerate(STEERS * 4)]
    return special + parts + pieces


def write(path, seed=1):
    """The file; its answers are pieces of tokens() that no end token stops for long."""
    all_tokens = tokens()
    metadata = llama_metadata("model" + HOSTILE) + [
        ("llama.note", STRING, HOSTILE), ("tokenizer.ggml.model", STRING, "llama"),
        ("tokenizer.ggml.bos_token_id", U32, 1), ("tokenizer.ggml.eos_token_id", U32, 2),
        ("tokenizer.ggml.unknown_token_id", U32, 0), ("tokenizer.chat_template", STRING, TEMPLATE)]
    lists = [("tokenizer.ggml.tokens", STRING, [t[0] for t in all_tokens]),
             ("tokenizer.ggml.scores", F32, [t[1] for t in all_tokens]),
             ("tokenizer.ggml.token_type", I32, [t[2] for t in all_tokens])]
    tensors = llama_tensors(len(all_tokens), seed)
    # The specials and the bytes are never the likeliest.
    tensors["output.weight"][1][:WIDTH * 259] = [0.0] * (WIDTH * 259)
    write_file(path, metadata, lists, tensors)
