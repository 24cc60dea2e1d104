"""GGUF files in a few lines: metadata, tensors of 32-bit floats, and a tiny llama that runs."""
import random
import struct

U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9
WIDTH, LAYERS, HEADS, FEED = 32, 1, 2, 32


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pack(kind, value):
    if kind == STRING:
        return text(value)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f"}[kind], value)


def write_file(path, metadata, lists, tensors):
    """metadata: (key, kind, value); lists: (key, kind, values); tensors: name -> (shape, values), the
    columns of a shape first."""
    head = struct.pack("<IIQQ", 0x46554747, 3, len(tensors), len(metadata) + len(lists))
    for key, kind, value in metadata:
        head += text(key) + struct.pack("<I", kind) + pack(kind, value)
    for key, kind, values in lists:
        head += text(key) + struct.pack("<IIQ", ARRAY, kind, len(values))
        head += b"".join(pack(kind, value) for value in values)
    data = b""
    for name, (shape, values) in tensors.items():
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, len(data))
        data += struct.pack(f"<{len(values)}f", *values)
    head += bytes(-len(head) % 32)
    path.write_bytes(head + data)


def llama_metadata(name, context=512):
    return [("general.architecture", STRING, "llama"), ("general.name", STRING, name),
            ("llama.block_count", U32, LAYERS), ("llama.context_length", U32, context),
            ("llama.embedding_length", U32, WIDTH), ("llama.feed_forward_length", U32, FEED),
            ("llama.attention.head_count", U32, HEADS),
            ("llama.attention.layer_norm_rms_epsilon", F32, 1e-5)]


def llama_tensors(n_tokens, seed=1):
    made = {name: ((WIDTH,), [1.0] * WIDTH)
            for name in ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight")}
    shapes = {"token_embd.weight": (WIDTH, n_tokens), "output.weight": (WIDTH, n_tokens)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        shapes[f"blk.0.{name}.weight"] = (WIDTH, WIDTH)
    shapes.update({"blk.0.ffn_gate.weight": (WIDTH, FEED), "blk.0.ffn_up.weight": (WIDTH, FEED),
                   "blk.0.ffn_down.weight": (FEED, WIDTH)})
    dice = random.Random(seed)
    for name, shape in shapes.items():
        made[name] = shape, [dice.gauss(0, 1) for _ in range(shape[0] * shape[1])]
    return made
