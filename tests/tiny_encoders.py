"""Tiny random encoders of every family, with tokenizers, as folders: what a hub would give, without
one.
"""

import importlib.util
import string
from pathlib import Path

WORDS = [
    "paris",
    "rome",
    "oslo",
    "apple",
    "pear",
    "plum",
    "iron",
    "zinc",
    "gold",
    "chess",
    "rugby",
    "golf",
    "hammer",
    "saw",
    "drill",
    "the",
    "of",
    "very",
    "some",
    "city",
    "fruit",
    "metal",
    "a",
    "tent",
    "knife",
    "for",
    "kitchen",
    "red",
    "blue",
    "item",
    "number",
    "two",
    "person",
    "bread",
    "camping",
]
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}
LONGEST = 40
# family -> id of padding, settings of its config beyond the small ones
FAMILIES = {
    "bert": (0, {"max_position_embeddings": LONGEST}),
    "roberta": (1, {"max_position_embeddings": LONGEST + 2, "type_vocab_size": 1}),
    "xlm-roberta": (1, {"max_position_embeddings": LONGEST + 2, "type_vocab_size": 1}),
    "mpnet": (1, {"max_position_embeddings": LONGEST + 2}),
    "electra": (0, {"max_position_embeddings": LONGEST, "embedding_size": 8}),
    "distilbert": (
        0,
        {
            "max_position_embeddings": LONGEST,
            "dim": 16,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 24,
        },
    ),
    "albert": (0, {"max_position_embeddings": LONGEST, "embedding_size": 8}),
    "deberta-v2": (
        0,
        {
            "max_position_embeddings": LONGEST,
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_buckets": 8,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "position_biased_input": False,
            "type_vocab_size": 0,
        },
    ),
    "modernbert": (
        3,
        {"max_position_embeddings": LONGEST, "local_attention": 8, "global_attn_every_n_layers": 2},
    ),
}
installed = importlib.util.find_spec("transformers") is not None


def vocabulary(padding: int) -> dict[str, int]:
    """Special tokens with padding at its place, letters and whole words."""
    special = ["[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    special.insert(padding, "[PAD]")
    letters = [*string.ascii_lowercase, *string.digits, ".", ","]
    pieces = list(
        dict.fromkeys([*special, *WORDS, *letters, *(f"##{letter}" for letter in letters)])
    )
    return {piece: number for number, piece in enumerate(pieces)}


def write_encoder(
    folder: Path, family: str = "bert", *, masked: bool = False, **more: object
) -> Path:
    """Random weights (seed 0), config and tokenizer of a family; `masked` with the head of
    masked-language models.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, PreTrainedTokenizerFast

    padding, own = FAMILIES[family]
    known = vocabulary(padding)
    tokenizer = Tokenizer(models.WordPiece(known, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [("[CLS]", known["[CLS]"]), ("[SEP]", known["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    names = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]"}
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, mask_token="[MASK]", **names
    ).save_pretrained(folder)
    sizes = {} if family == "distilbert" else SMALL
    tokens = {
        "pad_token_id": padding,
        "cls_token_id": known["[CLS]"],
        "sep_token_id": known["[SEP]"],
    }
    config = AutoConfig.for_model(
        family, **{"vocab_size": len(known), **sizes, **tokens, **own, **more}
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = (AutoModelForMaskedLM if masked else AutoModel).from_config(config)
        for (
            parameter
        ) in model.parameters():  # far from the tiny start, so that a mistake is a large one
            parameter.data.add_(torch.randn_like(parameter), alpha=0.2)
        model.save_pretrained(folder)
    return folder
