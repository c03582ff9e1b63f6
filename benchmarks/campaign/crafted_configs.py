"""Crafted model folders whose encoder config asks for code, a hub, or more than the weights
have.
"""

import json

from campaign.crafted import CANARY, DEEP, INFINITE, Change, all_of, cases, text, value

CONFIG = "encoder/config.json"
CODE = f"open(__file__ + '/../../../{CANARY}', 'w').close()\n"
REMOTE = {"AutoConfig": "modeling.Config", "AutoModel": "modeling.Model"}
OF_CONFIG: dict[str, Change] = {
    "remote code": all_of(value(CONFIG, "auto_map", to=REMOTE), text("encoder/modeling.py", CODE)),
    "remote code of a hub": value(
        CONFIG, "auto_map", to={"AutoModel": "owner/repo--modeling.Model"}
    ),
    **{
        f"{name} = {to!r:.40}": value(CONFIG, name, to=to)
        for name, values in {
            "_attn_implementation": [
                "owner/repo",
                "kernels-community/flash-attn",
                "flash_attention_2",
                "x",
                1,
            ],
            "attn_implementation": ["owner/repo", {"": "owner/repo"}],
            "_experts_implementation": ["owner/repo"],
            "torch_dtype": ["x", "os.system", 5, {"a": 1}, "float8_e4m3fn"],
            "dtype": ["x", "bfloat16"],
            "quantization_config": [
                {"quant_method": "bitsandbytes", "load_in_8bit": True},
                {"quant_method": "x"},
                1,
            ],
            "model_type": [
                "gpt2",
                "t5",
                "clip",
                "detr",
                "timm_wrapper",
                "mamba",
                "vit",
                "auto",
                "../x",
                None,
                1,
                [],
            ],
            "_name_or_path": ["owner/repo", 1],
            "backbone": ["owner/repo"],
            "hidden_act": ["x", ["gelu"], None, "os.system", "gelu_new"],
            "num_hidden_layers": [0, -1, 2, 4096, 4097, 10**9, 10**30, "1", None, 1.5, INFINITE],
            "hidden_size": [0, -16, 10**6, 10**12, 10**30, "16", None, INFINITE],
            "num_attention_heads": [0, -1, 3, 16, 10**9, None],
            "intermediate_size": [0, 10**7, 10**30],
            "vocab_size": [0, -1, 3, 76, 10**7, 10**30],
            "max_position_embeddings": [0, 1, 24, 10**7],
            "layer_norm_eps": [INFINITE, -1, "x", 0],
            "is_decoder": [True],
            "add_cross_attention": [True],
            "is_encoder_decoder": [True],
            "id2label": [{str(n): "x" for n in range(10**5)}, {"a": "b"}, 1],
            "num_labels": [10**9, -1, "x"],
            "tie_word_embeddings": ["x"],
            "pad_token_id": [10**6, -1, "x", 76],
            "output_hidden_states": [True],
            "return_dict": [False],
            "chunk_size_feed_forward": [7, -1],
            "pruned_heads": [{"0": [0]}, {"x": 1}],
            "sub_configs": [{"a": 1}],
            "from_pretrained": ["x"],
            "__class__": ["x"],
            "to_dict": [1],
            "position_embedding_type": ["relative_key", "x"],
        }.items()
        for to in values
    },
    "a config that is nested": text(CONFIG, '{"a":' * DEEP),
    "a config nested 900 levels": value(CONFIG, "x", to=json.loads("[" * 900 + "]" * 900)),
    "a config of 4 MB": value(CONFIG, "x", to=["x" * 100] * 40_000),
    "a config that is a list": text(CONFIG, []),
    "a config NaN": text(CONFIG, '{"model_type": "bert", "hidden_size": NaN}'),
    "a tokenizer beside": text(
        "encoder/tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["x.Y", None]}}
    ),
    "an adapter beside": text(
        "encoder/adapter_config.json", {"base_model_name_or_path": "owner/repo"}
    ),
}

CASES = cases("bert", OF_CONFIG)
