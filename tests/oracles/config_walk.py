"""What Transformers makes of config.json: each field left out, set to null and set on a foreign class.

    config_walk.py [--write] [-v]    tests/golden/config/walk.json; without --write it is compared

For each model class that kvik runs, and for the spelling of before and since version 5: a tiny model
whose every field differs from its default, then one case a change of its config.json: [its name, the
number of the change, the number of the logits of the last tokens or -1 where Transformers raised an
error, the number of the shapes of the file's tensors]. The weights are a function of the tensor's
name and the element's index, so that the test makes them again (src/model/config_walk_test.cpp).
"""
import copy
import json
import logging
import pathlib
import re
import sys
import tempfile
import warnings

import numpy as np
import torch
import transformers
from safetensors.numpy import save_file

RECORD = pathlib.Path(__file__).resolve().parent.parent / "golden/config/walk.json"
IDS = [3, 10, 17, 24, 31, 6, 13, 20, 27, 2, 9, 16]
ROWS, COLUMNS = 2, 32  # of the logits, the last and the first of them
# Arithmetic of other orders moves a logit of these models by some 1e-6.
TOLERANCE = 2e-5
SIZES = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=2,
             num_key_value_heads=1, vocab_size=32, max_position_embeddings=64)
NORM = dict(rms_norm_eps=0.01, initializer_range=0.1, bos_token_id=1, eos_token_id=2, pad_token_id=0,
            use_cache=True, attention_dropout=0.0)
FLAT = {"rope_type": "default", "rope_theta": 500.0}
QWEN = dict(sliding_window=5, use_sliding_window=True, max_window_layers=1)
QWEN_KINDS = ["full_attention", "sliding_attention", "sliding_attention"]
GEMMA_KINDS = ["sliding_attention", "full_attention", "sliding_attention"]

# class -> what its config.json has in either spelling, what only that since 5, what only that before
CLASSES = {
    "llama": (dict(SIZES, **NORM, head_dim=16, hidden_act="silu", attention_bias=True, mlp_bias=False,
                   tie_word_embeddings=True, pretraining_tp=1),
              dict(rope_parameters=FLAT, dtype="float32"),
              dict(rope_theta=500.0, torch_dtype="float32")),
    "mistral": (dict(SIZES, **NORM, head_dim=16, hidden_act="silu", sliding_window=5,
                     tie_word_embeddings=True),
                dict(rope_parameters=FLAT, dtype="float32"),
                dict(rope_theta=500.0, torch_dtype="float32")),
    "ministral": (dict(SIZES, **NORM, head_dim=16, hidden_act="silu", sliding_window=5,
                       tie_word_embeddings=True),
                  dict(rope_parameters=FLAT, layer_types=QWEN_KINDS, dtype="float32"),
                  dict(rope_theta=500.0, torch_dtype="float32")),
    "qwen2": (dict(SIZES, **NORM, **QWEN, hidden_act="silu", tie_word_embeddings=True),
              dict(rope_parameters=FLAT, layer_types=QWEN_KINDS, dtype="float32"),
              dict(rope_theta=500.0, torch_dtype="float32")),
    "qwen3": (dict(SIZES, **NORM, **QWEN, head_dim=16, hidden_act="silu", attention_bias=True,
                   tie_word_embeddings=True),
              dict(rope_parameters=FLAT, layer_types=QWEN_KINDS, dtype="float32"),
              dict(rope_theta=500.0, torch_dtype="float32")),
    "gemma3_text": (dict(SIZES, **NORM, head_dim=16, hidden_activation="gelu_pytorch_tanh",
                         query_pre_attn_scalar=40, sliding_window=5, attention_bias=False,
                         tie_word_embeddings=False, final_logit_softcapping=None,
                         attn_logit_softcapping=None, use_bidirectional_attention=False),
                    dict(rope_parameters={"full_attention": FLAT,
                                          "sliding_attention": {"rope_type": "default",
                                                                "rope_theta": 50.0}},
                         layer_types=GEMMA_KINDS, dtype="float32"),
                    dict(rope_theta=500.0, rope_local_base_freq=50.0, sliding_window_pattern=2,
                         torch_dtype="float32")),
    "gpt2": (dict(n_embd=32, n_head=2, n_layer=2, n_positions=64, n_inner=48, vocab_size=32,
                  activation_function="gelu_pytorch_tanh", layer_norm_epsilon=0.01, n_ctx=64,
                  scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False,
                  reorder_and_upcast_attn=False, add_cross_attention=False,
                  tie_word_embeddings=False, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0,
                  initializer_range=0.1, bos_token_id=1, eos_token_id=2, use_cache=True),
             dict(dtype="float32"), dict(torch_dtype="float32")),
}
# A value for each field that changes the logits of a class that obeys it.
VALUES = {
    "hidden_size": 64, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 1,
    "num_key_value_heads": 2, "vocab_size": 16, "max_position_embeddings": 8, "rms_norm_eps": 0.5,
    "head_dim": 8, "hidden_act": "gelu_new", "hidden_activation": "silu", "attention_bias": False,
    "mlp_bias": True, "tie_word_embeddings": False, "sliding_window": 2, "use_sliding_window": False,
    "max_window_layers": 2, "layer_types": ["sliding_attention"] * 3, "query_pre_attn_scalar": 3,
    "final_logit_softcapping": 2.0, "attn_logit_softcapping": 0.5,
    "use_bidirectional_attention": True, "n_embd": 64, "n_head": 1, "n_layer": 1, "n_positions": 8,
    "n_inner": 32, "n_ctx": 8, "activation_function": "silu", "layer_norm_epsilon": 0.5,
    "scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True,
    "reorder_and_upcast_attn": True, "add_cross_attention": True, "summary_type": "last",
    "summary_use_proj": False, "summary_activation": "tanh", "summary_proj_to_labels": False,
    "summary_first_dropout": 0.5, "attn_pdrop": 0.5, "embd_pdrop": 0.5, "resid_pdrop": 0.5,
    "attention_dropout": 0.5, "initializer_range": 0.5, "use_cache": False, "pretraining_tp": 2,
    "bos_token_id": 5, "eos_token_id": [5, 6], "pad_token_id": 7, "torch_dtype": "bfloat16",
    "dtype": "bfloat16",
    # Spellings of before version 5.
    "rope_theta": 7.0, "rope_local_base_freq": 3.0, "sliding_window_pattern": 3,
    "partial_rotary_factor": 0.5, "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 7.0},
    # What the code reads that all classes share, and fields of classes that kvik does not run.
    "is_causal": False, "attention_chunk_size": 2, "is_decoder": False, "is_encoder_decoder": False,
    "chunk_size_feed_forward": 2, "output_hidden_states": True, "return_dict": True,
    "per_layer_config": {"1": {"num_key_value_heads": 2}}, "num_kv_shared_layers": 1,
    "original_max_position_embeddings": 8, "rotary_dim": 8, "rotary_pct": 0.5, "rope_ratio": 2.0,
    "num_local_experts": 4, "num_experts": 4, "num_experts_per_tok": 2, "n_routed_experts": 4,
    "logit_scale": 0.5, "logits_scaling": 2.0, "residual_multiplier": 0.5,
    "embedding_multiplier": 2.0, "attention_multiplier": 0.5, "clip_qkv": 0.1, "alibi": True,
    "parallel_attn": True, "qk_layernorm": True, "use_qk_norm": True, "use_qkv_bias": True,
    "qkv_bias": True, "no_rope_layers": [0, 1, 0], "scale_emb": 2.0, "scale_depth": 2.0,
    "use_parallel_residual": True, "lm_head_bias": True, "layer_norm_eps": 0.5, "n_kv_heads": 2,
    "multi_query": True, "tie_encoder_decoder": True, "unknown_field": 1,
}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
LINEAR = {"rope_type": "linear", "factor": 4.0}
OLD_LINEAR = {"type": "linear", "factor": 4.0}
FULL, SLIDING = "full_attention", "sliding_attention"
# What stands where rope is spelled; all that is there of it otherwise is taken away first.
ROPES = {
    "nothing": {},
    "theta alone": {"rope_theta": 7.0},
    "theta null": {"rope_theta": None},
    "scaling null": {"rope_theta": 7.0, "rope_scaling": None},
    "scaling empty": {"rope_theta": 7.0, "rope_scaling": {}},
    "linear": {"rope_theta": 7.0, "rope_scaling": LINEAR},
    "linear by type": {"rope_theta": 7.0, "rope_scaling": OLD_LINEAR},
    "linear by both names": {"rope_theta": 7.0, "rope_scaling": {**LINEAR, "type": "dynamic"}},
    "linear without factor": {"rope_theta": 7.0, "rope_scaling": {"rope_type": "linear"}},
    "factor without type": {"rope_theta": 7.0, "rope_scaling": {"factor": 4.0}},
    "default with factor": {"rope_scaling": {"rope_type": "default", "factor": 4.0}},
    "linear, a half of the head": {"rope_scaling": LINEAR, "partial_rotary_factor": 0.5},
    "linear, all of the head": {"rope_scaling": LINEAR, "partial_rotary_factor": 1.0},
    "llama3": {"rope_theta": 700.0, "rope_scaling": LLAMA3},
    "llama3 without original": {"rope_theta": 700.0, "rope_scaling": {
        k: v for k, v in LLAMA3.items() if k != "original_max_position_embeddings"}},
    "llama3, original outside": {"rope_theta": 700.0, "rope_scaling": LLAMA3,
                                 "original_max_position_embeddings": 16},
    "llama3 without factor": {"rope_scaling": {k: v for k, v in LLAMA3.items() if k != "factor"}},
    "llama3, a half of the head": {"rope_scaling": LLAMA3, "partial_rotary_factor": 0.5},
    "yarn": {"rope_scaling": {"rope_type": "yarn", "factor": 4.0,
                              "original_max_position_embeddings": 16}},
    "dynamic": {"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}},
    "longrope": {"rope_scaling": {"rope_type": "longrope", "short_factor": [1.0] * 8,
                                  "long_factor": [2.0] * 8, "factor": 4.0,
                                  "original_max_position_embeddings": 16}},
    "proportional": {"rope_scaling": {"rope_type": "proportional", "partial_rotary_factor": 0.5}},
    "no such type": {"rope_scaling": {"rope_type": "spiral"}},
    "theta in scaling": {"rope_theta": 7.0, "rope_scaling": {**LINEAR, "rope_theta": 70.0}},
    "parameters empty": {"rope_parameters": {}},
    "parameters empty, theta": {"rope_parameters": {}, "rope_theta": 7.0},
    "parameters flat": {"rope_parameters": {"rope_type": "default", "rope_theta": 7.0}},
    "parameters flat, no type": {"rope_parameters": {"rope_theta": 7.0}},
    "parameters flat, no theta": {"rope_parameters": {"rope_type": "default"}},
    "parameters flat and theta": {"rope_parameters": {"rope_type": "default", "rope_theta": 7.0},
                                  "rope_theta": 70.0},
    "parameters without theta, and theta": {"rope_parameters": LINEAR, "rope_theta": 70.0},
    "parameters linear": {"rope_parameters": {**LINEAR, "rope_theta": 7.0}},
    "parameters linear by type": {"rope_parameters": {**OLD_LINEAR, "rope_theta": 7.0}},
    "parameters llama3": {"rope_parameters": {**LLAMA3, "rope_theta": 700.0}},
    "parameters, a half of the head": {"rope_parameters": {
        "rope_type": "default", "rope_theta": 7.0, "partial_rotary_factor": 0.5}},
    "parameters linear, a half of the head": {"rope_parameters": {
        **LINEAR, "rope_theta": 7.0, "partial_rotary_factor": 0.5}},
    "parameters and scaling": {"rope_parameters": {"rope_type": "default", "rope_theta": 7.0},
                               "rope_scaling": LINEAR},
    "parameters and scaling and theta": {"rope_parameters": {"rope_theta": 7.0},
                                         "rope_scaling": LINEAR, "rope_theta": 70.0},
    "parameters of both kinds": {"rope_parameters": {
        FULL: {"rope_type": "default", "rope_theta": 7.0},
        SLIDING: {"rope_type": "default", "rope_theta": 70.0}}},
    "parameters of full": {"rope_parameters": {FULL: {**LINEAR, "rope_theta": 7.0}}},
    "parameters of sliding": {"rope_parameters": {SLIDING: {**LINEAR, "rope_theta": 7.0}}},
    "parameters of full, sliding null": {"rope_parameters": {
        FULL: {"rope_type": "default", "rope_theta": 7.0}, SLIDING: None}},
    "parameters of full, no type": {"rope_parameters": {FULL: {"rope_theta": 7.0}}},
    "parameters of full, linear by type": {"rope_parameters": {FULL: OLD_LINEAR}},
    "parameters of full, and thetas": {"rope_parameters": {FULL: LINEAR}, "rope_theta": 7.0,
                                       "rope_local_base_freq": 70.0},
    "parameters of full, and scaling": {
        "rope_parameters": {FULL: {"rope_type": "default", "rope_theta": 7.0}},
        "rope_scaling": LINEAR},
    "parameters of sliding, and scaling": {
        "rope_parameters": {SLIDING: {"rope_type": "default", "rope_theta": 7.0}},
        "rope_scaling": LINEAR},
    "parameters of both kinds, llama3": {"rope_parameters": {
        FULL: {**LLAMA3, "rope_theta": 700.0}, SLIDING: {"rope_theta": 70.0}}},
    "parameters of both kinds, sliding linear": {"rope_parameters": {
        FULL: {"rope_theta": 700.0}, SLIDING: {**LINEAR, "rope_theta": 70.0}}},
    "parameters flat beside kinds": {"rope_parameters": {
        "rope_type": "default", "rope_theta": 3.0, FULL: {"rope_type": "default", "rope_theta": 7.0},
        SLIDING: {"rope_type": "default", "rope_theta": 70.0}}},
    "local base alone": {"rope_local_base_freq": 7.0},
    "local base and scaling": {"rope_local_base_freq": 7.0, "rope_scaling": LINEAR},
}
ROPE_FIELDS = ("rope_theta", "rope_local_base_freq", "rope_scaling", "rope_parameters",
               "partial_rotary_factor")
# A field whose default decides a shape: the other sizes shrink to keep it small.
SMALL = {"vocab_size": 32, "num_hidden_layers": 2, "intermediate_size": 32}
SIZE_FIELDS = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
               "num_key_value_heads", "vocab_size", "head_dim", "n_embd", "n_head", "n_layer",
               "n_positions", "n_inner")
WINDOWS = {
    "layer_types, use_sliding_window false": {"layer_types": GEMMA_KINDS,
                                              "use_sliding_window": False},
    "layer_types and max_window_layers": {"layer_types": GEMMA_KINDS, "max_window_layers": 2},
    "layer_types and a period": {"layer_types": QWEN_KINDS, "sliding_window_pattern": 3},
    "layer_types of chunks": {"layer_types": ["chunked_attention"] * 3},
    "layer_types too short": {"layer_types": ["full_attention"]},
    "layer_types of no kind": {"layer_types": ["odd_attention"] * 3},
    "a window in use, null": {"sliding_window": None, "use_sliding_window": True},
    "a window of 1": {"sliding_window": 1},
    "two names for the activation": {"hidden_act": "silu", "hidden_activation": "gelu_pytorch_tanh"},
    "two dtypes": {"dtype": "float32", "torch_dtype": "bfloat16"},
    "sizes by two names": {"hidden_size": 32, "n_embd": 32},
}


def mixed(x):
    """splitmix64 of each element."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def values_of(name, shape):
    """Matrices of spread 0.3, norms about 1 (about 0 where the class adds 1), biases about 0."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % (1 << 64)
    n = int(np.prod(shape))
    with np.errstate(over="ignore"):
        bits = mixed(np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) *
                     np.uint64(0x9E3779B97F4A7C15))
    unit = ((bits >> np.uint64(40)).astype(np.float32) / np.float32(1 << 23) - np.float32(1))
    return (unit * np.float32(0.5)).reshape(shape)


def model_of(config):
    kind = transformers.AutoConfig.for_model(**copy.deepcopy(config))
    with torch.device("meta"):
        return transformers.AutoModelForCausalLM.from_config(kind)


def shapes_of(config):
    """The tensors of a checkpoint: a tied head is not there."""
    state = model_of(config).state_dict()
    tied = config.get("tie_word_embeddings")
    return {k: list(v.shape) for k, v in sorted(state.items()) if not (tied and k == "lm_head.weight")}


def write_model(folder, shapes):
    save_file({k: values_of(k, s) for k, s in shapes.items()}, folder / "model.safetensors",
              metadata={"format": "pt"})


def logits_of(folder, config):
    """Rows of logits, or the error."""
    (folder / "config.json").write_text(json.dumps(config))
    try:
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager").eval()
        with torch.no_grad():
            rows = model(torch.tensor([IDS])).logits[0, -ROWS:, :COLUMNS].float().numpy()
    except Exception as error:  # whatever it raises is a refusal
        return None, f"{type(error).__name__}: {str(error).strip().splitlines()[0][:100]}"
    return rows, None


def size_cases(kind, base):
    """(case, config, shapes) with one size at its default, and that field left out."""
    defaults = transformers.AutoConfig.for_model(kind)
    for name in SIZE_FIELDS:
        if name not in base or (kind == "qwen2" and name == "hidden_size"):  # 64 heads: too large
            continue
        config = {**base, **{k: v for k, v in SMALL.items() if k in base}}
        if "n_layer" in base:
            config["n_layer"] = 1
        config[name] = getattr(type(defaults)(), name)
        if config[name] is None:
            del config[name]
        elif name == "num_attention_heads":
            config["num_key_value_heads"] = 2
        elif name == "num_key_value_heads":
            config["num_attention_heads"] = config[name]
        elif name == "num_hidden_layers":
            config.update(hidden_size=16, intermediate_size=16)
            if "head_dim" not in config:
                config.update(num_attention_heads=1, num_key_value_heads=1)
        elif name == "n_layer":
            config.update(n_embd=16, n_head=1)
        elif name == "n_head":
            config.update(n_embd=16 * config[name])
        if "layer_types" in config and name != "layer_types":
            n = config.get("num_hidden_layers", 2)
            config["layer_types"] = [base["layer_types"][i % 3] for i in range(n)]
        try:
            shapes = shapes_of(config)
        except TypeError:  # of ministral, whose head_dim has no default
            continue
        yield f"sizes: {name} at its default", config, shapes
        yield f"sizes: {name} left out", {k: v for k, v in config.items() if k != name}, shapes


def cases_of(kind, base):
    """case -> config; the first is the control."""
    yield "control", base
    for name in base:
        yield f"without {name}", {k: v for k, v in base.items() if k != name}
        yield f"{name} null", {**base, name: None}
    for name, value in VALUES.items():
        yield f"{name} added" if name not in base else f"{name} changed", {**base, name: value}
    plain = {k: v for k, v in base.items() if k not in ROPE_FIELDS}
    for name, fields in ROPES.items():
        yield f"rope: {name}", {**plain, **fields}
        if "layer_types" in base:
            config = {**plain, **fields}
            del config["layer_types"]
            yield f"rope: {name}, no layer_types", config
        elif kind in ("llama", "mistral"):
            yield f"rope: {name}, with layer_types", {**plain, **fields, "layer_types": GEMMA_KINDS}
    for name, fields in WINDOWS.items():
        yield f"windows: {name}", {**base, **fields}


def edit_of(base, config):
    """What makes config of base: fields set, and fields taken away."""
    changed = {k: v for k, v in config.items() if k not in base or base[k] != v or
               type(base[k]) is not type(v)}
    return {"set": changed, "without": [k for k in base if k not in config]}


def templates_of(shapes):
    """The shapes with {} for the number of a layer, of which all are alike."""
    return {re.sub(r"\.\d+\.", ".{}.", k): v for k, v in shapes.items()}


class Numbered:
    """Unlike values, each with its number."""

    def __init__(self):
        self.values, self.keys = [], {}

    def number(self, value, key=None):
        key = key or json.dumps(value)
        if key not in self.keys:
            self.keys[key] = len(self.values)
            self.values.append(value)
        return self.keys[key]


def record():
    logits, edits, shapes, models = Numbered(), Numbered(), Numbered(), []

    def case_of(name, base, config, folder, shape):
        rows, error = logits_of(folder, config)
        if "-v" in sys.argv and error:
            print(f"    {name}: {error}")
        at = -1
        if rows is not None:
            at = logits.number([float(f"{x:.6g}") for x in rows.reshape(-1)], rows.tobytes())
        return [name, edits.number(edit_of(base, config)), at, shapes.number(templates_of(shape))]

    for kind, (both, since, before) in CLASSES.items():
        for style, more in (("since 5", since), ("before 5", before)):
            base = {"model_type": kind, **both, **more}
            shape = shapes_of(base)
            cases = []
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                write_model(folder, shape)
                for name, config in cases_of(kind, base):
                    cases.append(case_of(name, base, config, folder, shape))
                if style == "before 5":
                    for name, config, other in size_cases(kind, base):
                        write_model(folder, other)
                        cases.append(case_of(name, base, config, folder, other))
            models.append({"class": kind, "spelling": style, "config": base, "cases": cases})
            refused = sum(c[2] < 0 for c in cases)
            print(f"{kind}, {style}: {len(cases)} cases, {refused} refused by transformers")
    return {"source": f"transformers {transformers.__version__}, torch {torch.__version__}",
            "ids": IDS, "rows": ROWS, "columns": COLUMNS, "logits": logits.values,
            "edits": edits.values, "shapes": shapes.values, "models": models}


def same(old, new):
    """Whether two records agree, the logits but for the last digits."""
    for a, b in zip(old["models"], new["models"], strict=True):
        if a["config"] != b["config"] or len(a["cases"]) != len(b["cases"]):
            return False
        for x, y in zip(a["cases"], b["cases"]):
            is_same = x[0] == y[0] and (x[2] < 0) == (y[2] < 0) and all(
                old[k][x[i]] == new[k][y[i]] for k, i in (("edits", 1), ("shapes", 3)))
            if is_same and x[2] >= 0:
                apart = np.subtract(old["logits"][x[2]], new["logits"][y[2]])
                is_same = np.abs(apart).max() <= TOLERANCE
            if not is_same:
                print(f"{a['class']}, {a['spelling']}, {x[0]}: differs")
                return False
    return True


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    transformers.logging.set_verbosity(60)
    transformers.utils.logging.disable_progress_bar()
    made = record()
    if "--write" in sys.argv:
        RECORD.parent.mkdir(exist_ok=True)
        lists = ("logits", "edits", "shapes", "models")
        text = json.dumps({k: v for k, v in made.items() if k not in lists})[:-1]
        for key in lists:
            lines = ",\n".join(json.dumps(v, separators=(",", ":")) for v in made[key])
            text += f',\n"{key}": [\n{lines}]'
        RECORD.write_text(text.replace('],["', '],\n["') + "}\n")
        return 0
    ok = RECORD.exists() and same(json.loads(RECORD.read_text()), made)
    print("the record agrees" if ok else f"{RECORD} differs: --write records anew")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
