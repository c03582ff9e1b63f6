"""Small models of every kind, made in a second or two, and what tells one from another."""

import gc
import hashlib
import os
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TEXTS = ["tent rope", "a knife", "pan and knife", "red tent"] * 6
LABELS = [["camp"], ["kitchen"], ["kitchen"], ["camp", "color"]] * 6
TOKENS = [["red", "tent", "for", "two", f"n{number}"] for number in range(24)]
TAGS = [["O", "B-GOODS", "O", "B-SIZE", "O"]] * 24
LAYERS = {"width": 8, "hidden": 8, "feed": 8, "layers": 1, "heads": 2}
HASHES = {"name": "hashes", "size": 50, "affix_size": 20, "shape_size": 10}
SETTINGS: dict[str, dict[str, Any]] = {
    "cnn": {"encoder": {"name": "cnn", "width": 8, "filters": 4}},
    "other": {"encoder": {"name": "cnn", "width": 8, "filters": 4}, "fit": {"seed": 7}},
    "bow": {"encoder": {"name": "bow"}},
    "spelled": {"encoder": {"name": "bow"}, "embed": {"name": "spelled"}},
    "lstm": {"encoder": {"name": "lstm", "width": 8, "hidden": 4}, "embed": {"name": "char"}},
    "bat": {"encoder": {"name": "bat", **LAYERS}, "embed": HASHES},
    "performer": {
        "encoder": {"name": "performer", **LAYERS, "features": 4},
        "embed": {"name": "subword", "size": 80},
    },
    "switch": {"encoder": {"name": "switch", **LAYERS}},
    "muse": {"encoder": {"name": "muse", **LAYERS}},
    "bert": {"encoder": {"name": "pretrained"}},
    "tokens": {"encoder": {"name": "bat", **LAYERS}, "embed": HASHES},
    "chain": {"encoder": {"name": "bow"}, "objective": "classifier-chain"},
    "cloze": {"encoder": {"name": "pretrained"}, "head": {"name": "cloze"}},
}


def make(home: Path, kinds: list[str]) -> list[str]:
    """Train a model of each kind into `home/KIND`; the kinds that this installation can make."""
    from tagwright import Tagger, TokenTagger

    made = []
    for kind in kinds:
        own = SETTINGS[kind]
        if own["encoder"]["name"] == "pretrained":
            if not _write_encoder(home / "encoder"):
                continue
            own = {**own, "encoder": {**own["encoder"], "path": str(home / "encoder")}}
        settings = (
            own
            if "objective" in own
            else {**own, "fit": {"limit": 24, "epochs": 1, **own.get("fit", {})}}
        )
        if kind == "tokens":
            TokenTagger(settings=settings, dev_share=0.2).fit(TOKENS, TAGS).save(home / kind)
        else:
            Tagger(settings=settings, dev_share=0.2).fit(TEXTS, LABELS).save(home / kind)
        made.append(kind)
    return made


def fingerprint(model: Any) -> dict[str, str]:
    """A digest of each part of a model that decides what it answers, or that it tells of itself."""
    tokenizer = getattr(model.tokenizer, "tokenizer", None)
    parts = {
        "weights": [
            (name, _array(tensor.numpy())) for name, tensor in model.network.state_dict().items()
        ],
        "learned": [(name, _array(array)) for name, array in sorted(model.learned.items())],
        "tokenizer": repr(model.tokenizer) if tokenizer is None else tokenizer.to_str(),
        "settings": model.inference.as_dict(),
        "record": (model.record.given, model.record.resolved),
        "heads": [(name, _head(head)) for name, head in model.heads.items()],
    }
    return {
        name: hashlib.sha256(repr(part).encode()).hexdigest()[:16] for name, part in parts.items()
    }


def warm_up(folders: list[Path]) -> None:
    """Load models and use them once, so that whatever is imported on the way is there."""
    import torch

    import tagwright.cli  # noqa: F401
    from tagwright.inference import model_folder

    torch.set_num_threads(1)
    for folder in folders:
        answers(model_folder.load(folder), TEXTS[:1])
    gc.collect()
    gc.freeze()


def answers(model: Any, texts: list[str]) -> bool:
    """Whether a model answers these texts, and all its answers are finite."""
    import numpy as np

    from tagwright.inference.spans import token_scores
    from tagwright.tokenizers.cut import cut

    finite = True
    for name in model.heads:
        if model.heads[name].tags_tokens:
            tokens = cut(texts, model.inference.data.cut)
            found = token_scores(model.alone(name), tokens.words, tokens.offsets)
        else:
            found = model.scores(texts, head=name)
        finite = finite and bool(np.isfinite(found.probabilities).all())
    return finite


def _head(head: Any) -> list[Any]:
    decided = vars(head.decision).items()
    decision = {
        key: value.tolist() if hasattr(value, "tolist") else value for key, value in decided
    }
    rest = (
        head.space,
        head.link,
        head.rule,
        head.metrics,
        head.calibration,
        head.part,
        head.extra_logits,
        head.zero,
    )
    return [decision, *rest]


def _array(array: Any) -> tuple[str, tuple[int, ...], str]:
    return str(array.dtype), array.shape, hashlib.sha256(array.tobytes()).hexdigest()


def _write_encoder(folder: Path) -> bool:
    """A BERT of random weights with its tokenizer; False where transformers is not installed."""
    os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    try:
        import transformers
    except ImportError:
        return False
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    if folder.exists():
        return True
    letters = [*string.ascii_lowercase, *string.digits]
    special = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    known = {
        piece: place
        for place, piece in enumerate([*special, *letters, *(f"##{one}" for one in letters)])
    }
    tokenizer = Tokenizer(models.WordPiece(known, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = (
        normalizers.Lowercase(),
        pre_tokenizers.BertPreTokenizer(),
    )
    ends = [("[CLS]", known["[CLS]"]), ("[SEP]", known["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    names: Mapping[str, Any] = {f"{one.strip('[]').lower()}_token": one for one in special}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(
        folder
    )
    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 24,
    }
    config = transformers.BertConfig(vocab_size=len(known), max_position_embeddings=64, **sizes)
    torch.manual_seed(0)
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    return True
