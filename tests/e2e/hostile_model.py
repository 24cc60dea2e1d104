"""A tiny GGUF that loads and answers, whose every text tries to steer the terminal it is shown on."""
import random
import struct

# Each draws, moves, retitles or reorders: C0, DEL, C1, the direction controls. All of it is UTF-8.
STEERS = ("\x1b[2J", "\x1b]0;owned\x07", "\r", "\b\b", "\x7f", "\u009b31m", "\u0085", "\u202e", "\u202a",
          "\u2066", "\u2069")
HOSTILE = "".join(STEERS)
TEMPLATE = ("{# " + HOSTILE + " #}{% for m in messages %}<" + HOSTILE + ">{{ m['content'] }}"
            "{% endfor %}" + HOSTILE)

WIDTH, LAYERS, HEADS, FEED = 32, 1, 2, 32
U32, F32, STRING, ARRAY, I32 = 4, 6, 8, 9, 5


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pack(kind, value):
    if kind == STRING:
        return text(value)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f"}[kind], value)


def tokens():
    """Unknown, start and end, the 256 bytes, then pieces; (text, score, kind)."""
    special = [("<unk>", 0.0, 2), ("<s>" + HOSTILE, 0.0, 3), ("</s>" + HOSTILE, 0.0, 3)]
    parts = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    pieces = [(f"word{i}{steer}", -1.0 - i, 1) for i, steer in enumerate(STEERS * 4)]
    return special + parts + pieces


def write(path, seed=1):
    """The file; its answers are pieces of tokens() that no end token stops for long."""
    all_tokens = tokens()
    metadata = [
        ("general.architecture", STRING, "llama"), ("general.name", STRING, "model" + HOSTILE),
        ("llama.block_count", U32, LAYERS), ("llama.context_length", U32, 512),
        ("llama.embedding_length", U32, WIDTH), ("llama.feed_forward_length", U32, FEED),
        ("llama.attention.head_count", U32, HEADS),
        ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
        ("llama.note", STRING, HOSTILE),
        ("tokenizer.ggml.model", STRING, "llama"),
        ("tokenizer.ggml.bos_token_id", U32, 1), ("tokenizer.ggml.eos_token_id", U32, 2),
        ("tokenizer.ggml.unknown_token_id", U32, 0),
        ("tokenizer.chat_template", STRING, TEMPLATE),
    ]
    lists = [("tokenizer.ggml.tokens", STRING, [t[0] for t in all_tokens]),
             ("tokenizer.ggml.scores", F32, [t[1] for t in all_tokens]),
             ("tokenizer.ggml.token_type", I32, [t[2] for t in all_tokens])]
    norms = {"blk.0.attn_norm.weight": WIDTH, "blk.0.ffn_norm.weight": WIDTH,
             "output_norm.weight": WIDTH}
    shapes = {"token_embd.weight": (len(all_tokens), WIDTH),
              "output.weight": (len(all_tokens), WIDTH)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        shapes[f"blk.0.{name}.weight"] = (WIDTH, WIDTH)
    shapes.update({"blk.0.ffn_gate.weight": (FEED, WIDTH), "blk.0.ffn_up.weight": (FEED, WIDTH),
                   "blk.0.ffn_down.weight": (WIDTH, FEED)})
    dice = random.Random(seed)
    head = struct.pack("<IIQQ", 0x46554747, 3, len(norms) + len(shapes),
                       len(metadata) + len(lists))
    for key, kind, value in metadata:
        head += text(key) + struct.pack("<I", kind) + pack(kind, value)
    for key, kind, values in lists:
        head += text(key) + struct.pack("<IIQ", ARRAY, kind, len(values))
        head += b"".join(pack(kind, value) for value in values)
    data = b""
    for name, n in norms.items():
        head += text(name) + struct.pack("<IQIQ", 1, n, 0, len(data))
        data += struct.pack(f"<{n}f", *[1.0] * n)
    for name, (rows, columns) in shapes.items():
        head += text(name) + struct.pack("<IQQIQ", 2, columns, rows, 0, len(data))
        values = [dice.gauss(0, 1) for _ in range(rows * columns)]
        if name == "output.weight":  # the specials and the bytes are never the likeliest
            values[:columns * 259] = [0.0] * (columns * 259)
        data += struct.pack(f"<{len(values)}f", *values)
    head += bytes(-len(head) % 32)
    path.write_bytes(head + data)
