"""Tiny models as Hugging Face directories, from arithmetic alone, so that whoever makes one has the same
weights: what transformers computes of them can be recorded and the models need not be kept."""
import json
import pathlib
import struct

VOCAB, HIDDEN, LAYERS, HEADS, FF, CONTEXT = 32, 32, 2, 4, 48, 64
TYPES = ("llama", "qwen3", "gemma3_text", "gpt2")


def numbers(n, spread, centre, state):
    """n numbers around centre, all of them exact in 32 bits."""
    values = []
    for _ in range(n):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        values.append(centre + spread * ((state >> 12) / 2**18 - 1))
    return struct.pack(f"<{n}f", *values), state


def tensors(kind, head_dim, kv_heads):
    """name -> (shape, spread, centre)"""
    if kind == "gpt2":
        h = HEADS * head_dim
        shapes = {"transformer.wte.weight": (VOCAB, h), "transformer.wpe.weight": (CONTEXT, h),
                  "transformer.ln_f.weight": (h,), "transformer.ln_f.bias": (h,)}
        for i in range(LAYERS):
            p = f"transformer.h.{i}."
            shapes |= {p + "ln_1.weight": (h,), p + "ln_1.bias": (h,), p + "ln_2.weight": (h,),
                       p + "ln_2.bias": (h,), p + "attn.c_attn.weight": (h, 3 * h),
                       p + "attn.c_attn.bias": (3 * h,), p + "attn.c_proj.weight": (h, h),
                       p + "attn.c_proj.bias": (h,), p + "mlp.c_fc.weight": (h, FF),
                       p + "mlp.c_fc.bias": (FF,), p + "mlp.c_proj.weight": (FF, h),
                       p + "mlp.c_proj.bias": (h,)}
    else:
        q, kv = HEADS * head_dim, kv_heads * head_dim
        shapes = {"model.embed_tokens.weight": (VOCAB, HIDDEN), "model.norm.weight": (HIDDEN,)}
        for i in range(LAYERS):
            p = f"model.layers.{i}."
            shapes |= {p + "input_layernorm.weight": (HIDDEN,), p + "post_attention_layernorm.weight": (HIDDEN,),
                       p + "self_attn.q_proj.weight": (q, HIDDEN), p + "self_attn.k_proj.weight": (kv, HIDDEN),
                       p + "self_attn.v_proj.weight": (kv, HIDDEN), p + "self_attn.o_proj.weight": (HIDDEN, q),
                       p + "mlp.gate_proj.weight": (FF, HIDDEN), p + "mlp.up_proj.weight": (FF, HIDDEN),
                       p + "mlp.down_proj.weight": (HIDDEN, FF)}
            if kind != "llama":
                shapes |= {p + "self_attn.q_norm.weight": (head_dim,), p + "self_attn.k_norm.weight": (head_dim,)}
            if kind == "gemma3_text":
                shapes |= {p + "pre_feedforward_layernorm.weight": (HIDDEN,),
                           p + "post_feedforward_layernorm.weight": (HIDDEN,)}
    made = {}
    for name, shape in shapes.items():
        is_scale = len(shape) == 1 and name.endswith("weight")
        centre = 1.0 if is_scale and kind != "gemma3_text" else 0.0
        made[name] = shape, 0.25 if len(shape) == 1 else 0.5, centre
    return made


def config(kind, head_dim, kv_heads):
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    if kind == "gpt2":
        return {"model_type": "gpt2", "n_embd": HEADS * head_dim, "n_layer": LAYERS, "n_head": HEADS,
                "n_inner": FF, "n_positions": CONTEXT, "vocab_size": VOCAB, "tie_word_embeddings": True,
                "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, **ends}
    made = {"model_type": kind, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "num_key_value_heads": kv_heads, "head_dim": head_dim, "intermediate_size": FF,
            "max_position_embeddings": CONTEXT, "vocab_size": VOCAB, "rms_norm_eps": 1e-5,
            "tie_word_embeddings": True, "rope_theta": 10000.0, **ends}
    if kind == "gemma3_text":
        return made | {"hidden_activation": "gelu_pytorch_tanh", "sliding_window": 8, "rope_local_base_freq": 10000.0,
                       "query_pre_attn_scalar": head_dim, "sliding_window_pattern": 2,
                       "layer_types": ["sliding_attention", "full_attention"]}
    return made | {"hidden_act": "silu"}


def write(directory, kind, head_dim, kv_heads=2):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config(kind, head_dim, kv_heads)))
    header, data, state = {}, b"", 1
    for name, (shape, spread, centre) in tensors(kind, head_dim, kv_heads).items():
        n = 1
        for dim in shape:
            n *= dim
        raw, state = numbers(n, spread, centre, state)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    (directory / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
