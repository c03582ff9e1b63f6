"""Any encoder that `transformers` loads (BERT, RoBERTa, MPNet, DeBERTa, ELECTRA, ModernBERT, XLM-R,
…), fine-tuned.

Takes the encoder's own pieces, special tokens included. Weights come from a folder or the hub,
safetensors only.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tagwright.arrays import Numbers
from tagwright.batches.windows import PieceInputs
from tagwright.data.dataset import Size
from tagwright.errors import ModelError, SettingsError, unknown
from tagwright.models.encoders import Encoder, _half_linear, _layers, _lora, _positions, _unpadded
from tagwright.models.encoders import slots as _slots
from tagwright.models.encoders._checkpoint import (
    from_config,
    read_config,
    width_in,
    with_attention_dropout,
    with_weights,
)
from tagwright.models.encoders._pooling import Pooling
from tagwright.models.hidden import Hidden, Slots, Windows
from tagwright.models.precision import in_bfloat16
from tagwright.storage.checked import json_object, value_of
from tagwright.tokenizers.pretrained import OwnPieces
from tagwright.tokenizers.source import find_local, find_source
from tagwright.tokenizers.tokens import Tokens

ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
SMALL = 512  # width up to which a model is trained as a small one
BATCH = 32
STEPS, FEWEST, MOST = 4000, 3, 20  # of training: about so many, in so many epochs
MANY = 256  # labels from which on twice as many steps are taken: most of them are rare
# families that take a mask (B, 1, 1, T) as it is; of one (B, T) they would look at the values,
# which stalls a GPU
READY_MASK = {
    "bert",
    "roberta",
    "xlm-roberta",
    "mpnet",
    "electra",
    "distilbert",
    "albert",
    "camembert",
}


class Pretrained(Encoder):
    """Ids (B, T) and lengths (B,) to states (B, T, D) and `pooled` (B, D); what stands behind a
    text does not matter.

    With `long="windows"` rows are windows, and counts (B,) say how many of them each text has.
    `learned` has the config and how many special tokens stand around a text; `fresh` loads the
    weights from `path`, else they are random and those of a model folder follow.
    `attention_dropout` None is what the encoder's config says. `freeze` holds the lowest layers
    (embeddings count first) or "all"; `lora` is the rank of adapters that are trained in the
    weights' stead, 0 for none.
    """

    embed = "pieces"
    reads_slots = True

    @staticmethod
    def defaults(
        task: str, objective: str | None, options: Mapping[str, object], size: Size | None
    ) -> Mapping[str, object]:
        """As many epochs as make some thousand steps; a rate that suits the model's width, as far
        as it is known here.

        docs/pretrained.md has the evidence.
        """
        folder = find_local(str(options.get("path", "")))
        small = folder is not None and width_in(folder) <= SMALL
        wide = 4e-5 if task == "one" else 1.6e-4
        steps = STEPS if size is None or size.labels < MANY else 2 * STEPS
        per_epoch = steps / FEWEST if size is None else max(size.rows / BATCH, 1)
        fit = {
            "epochs": float(min(max(round(steps / per_epoch), FEWEST), MOST)),
            "batch": BATCH,
            # adapters start at 0
            "learning_rate": (2e-4 if small else wide) * (5 if options.get("lora") else 1),
            "layer_decay": 0.9,
            "limit": 256,
            "patience": 0,
        }
        return {
            "embed": {"name": "pieces"},
            "schedule": {"name": "linear", "warmup": 0.1},
            "fit": fit,
        }

    @staticmethod
    def learn(
        tokens: Tokens, tokenizer: OwnPieces, *, path: str = "", **others: object
    ) -> dict[str, Numbers]:
        """The encoder's config and the number of special tokens: with the weights, all that a model
        folder needs.
        """
        folder = find_source(path)
        config = read_config(folder)
        vocabulary = value_of(config, "vocab_size", int)
        if tokenizer.largest >= vocabulary:
            raise ModelError(
                f"the tokenizer in {folder} has ids up to {tokenizer.largest}, the encoder vectors"
                f" for {vocabulary}; they do not belong together"
            )
        text = json.dumps(config, indent=1, sort_keys=True) + "\n"
        return {
            "config.json": np.frombuffer(text.encode(), np.uint8),
            "specials": np.array(tokenizer.specials),
        }

    @staticmethod
    def inputs(
        tokens: Tokens,
        learned: Mapping[str, Numbers],
        *,
        limit: int,
        long: str = "head",
        overlap: int = 32,
        windows: int = 16,
    ) -> PieceInputs:
        """Rows as the encoder takes them, long texts cut or read in windows."""
        return PieceInputs(
            tokens=tokens,
            specials=_specials(learned),
            limit=limit,
            long=long,
            overlap=overlap,
            most=windows,
        )

    @staticmethod
    def said(
        tokens: Tokens,
        learned: Mapping[str, Numbers],
        *,
        limit: int,
        long: str = "head",
        overlap: int = 32,
        windows: int = 16,
        **others: object,
    ) -> str | None:
        """How many texts are longer than `limit`, and what becomes of them."""
        return Pretrained.inputs(
            tokens, learned, limit=limit, long=long, overlap=overlap, windows=windows
        ).said()

    def __init__(
        self,
        learned: Mapping[str, Numbers],
        fresh: bool,
        limit: int,
        precision: str,
        *,
        path: str = "",
        pooling: Literal["mean", "cls", "max", "attention"] = "mean",
        dropout: float = 0.1,
        attention_dropout: float | None = None,
        freeze: int | str | None = None,
        lora: int = 0,
        lora_alpha: float = 16.0,
        lora_dropout: float = 0.0,
        long: Literal["head", "tail", "both", "windows"] = "head",
        overlap: int = 32,
        windows: int = 16,
        window_pooling: Literal["mean", "max"] = "mean",
    ) -> None:
        super().__init__()
        if window_pooling not in ("mean", "max"):
            raise SettingsError(unknown("window_pooling", window_pooling, ["mean", "max"]))
        self.precision, self.window_pooling = precision, window_pooling
        self._inputs_of = partial(
            self.inputs, learned=learned, long=long, overlap=overlap, windows=windows
        )
        config = json_object(bytes(learned["config.json"]))
        if attention_dropout is not None:
            config = with_attention_dropout(config, attention_dropout)
        self.model = with_weights(find_source(path), config) if fresh else from_config(config)
        self.before, _ = _specials(learned)
        # refuses what cannot be
        self._inputs_of(Tokens(np.empty(0, np.int32), np.zeros(1, np.int64)), limit=limit)
        pad = self.words.padding_idx or config.get("pad_token_id")
        self.pad = pad if isinstance(pad, int) else 0
        self.family = value_of(config, "model_type", str)
        self.ready_mask = self.family in READY_MASK
        self.first_position = _layers.first_position(self.model)
        self.reads_slots = _slots.readable(self.model)
        self.width_out = int(self.model.config.hidden_size)
        longest = _layers.longest_text(self.model, config)
        if longest is not None and limit > longest:
            raise SettingsError(
                f"fit.limit is {limit}, but this encoder reads at most {longest} tokens of a text"
            )
        self.slot_room = None if longest is None else longest - limit
        self.pooling, self.dropout = Pooling(self.width_out, pooling), nn.Dropout(dropout)
        self.adapted = fresh and lora > 0  # the adapters of a finished model are in its weights
        if self.adapted and freeze == "all":
            raise SettingsError(
                'encoder.freeze = "all" leaves encoder.lora nothing to train; give one of them'
            )
        if self.adapted:
            _lora.add_adapters(self.model, rank=lora, alpha=lora_alpha, dropout=lora_dropout)
        self.frozen = _layers.freeze_layers(self.model, freeze)
        _half_linear.take_over(self.model)
        _unpadded.register()
        if self.family == "mpnet":
            _positions.placed(self.model.encoder)

    def inputs_of(self, tokens: Tokens, *, limit: int) -> PieceInputs:
        """Rows of pieces, long texts cut or read in windows."""
        return self._inputs_of(tokens, limit=limit)

    def word_vectors(self) -> nn.Module:
        """The vectors of word pieces."""
        found: nn.Module = self.words
        return found

    def forward(
        self, ids: Tensor, lengths: Tensor, counts: Tensor | None = None, slots: Slots | None = None
    ) -> Hidden:
        """An empty row counts as one token of padding."""
        lengths = lengths.clamp(min=1)
        inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        ids = ids.masked_fill(~inside, self.pad)  # RoBERTa's kind gives no position to it
        if slots is None:
            states, of_slots = self._states({"input_ids": ids}, lengths, ids.shape[1]), None
        else:
            states, of_slots = self._beside(ids, lengths, slots)
            of_slots = self.dropout(of_slots)  # as what a plain head reads
        windows = None if counts is None else Windows(counts, self.window_pooling)
        return Hidden(states, self.dropout(self.pooling(states, inside)), windows, of_slots)

    def _beside(self, ids: Tensor, lengths: Tensor, slots: Slots) -> tuple[Tensor, Tensor]:
        """States of texts (B, T, D) and of the slots (B * passes, S, D) that stand before them."""
        width, before = ids.shape[1], min(self.before, ids.shape[1])
        given = {"inputs_embeds": _slots.vectors_with(slots, ids, self.words, before=before)}
        places = _slots.places_of(slots, width, before=before)
        given["position_ids"] = (places + self.first_position)[None]
        lengths = (lengths + slots.vectors.shape[1]).repeat_interleave(
            slots.passes, output_size=len(slots.vectors)
        )
        with ExitStack() as stack:
            if self.family == "mpnet":  # its positions are `_positions.placed`
                stack.enter_context(_positions.at(self.model.encoder, places))
            allowed = None
            if slots.one_way:
                inside = torch.arange(len(places), device=ids.device) < lengths[:, None]
                allowed = _slots.one_way(slots, inside, before=before)
            states = self._states(given, lengths, len(places), allowed)
        return _slots.apart(states, slots, before=before)

    def _states(
        self,
        given: Mapping[str, Tensor],
        lengths: Tensor,
        width: int,
        allowed: Tensor | None = None,
    ) -> Tensor:
        """The model's last states (B, N, D) of rows whose first `lengths` tokens count; `allowed`
        (B, 1, N, N) says more, where not all of them look at each other."""
        device = lengths.device
        half = in_bfloat16(self.precision, device)
        packed = allowed is None and _unpadded.serves(self.model, width, device, half=half)
        if packed:
            mask = _unpadded.ends_of(lengths, width)
        else:
            mask = self._mask(torch.arange(width, device=device) < lengths[:, None], allowed)
        with ExitStack() as stack:
            stack.enter_context(self._computing(device, half=half))
            stack.enter_context(torch.autocast(device.type, torch.bfloat16, enabled=half))
            if packed:
                stack.enter_context(_unpadded.unpadded(self.model))
            states: Tensor = self.model(**given, attention_mask=mask).last_hidden_state
        return states.to(next(self.model.parameters()).dtype)

    @property
    def words(self) -> nn.Embedding:
        """The vectors of word pieces, an embedding (V, E)."""
        return self.model.get_input_embeddings()

    @contextmanager
    def _computing(self, device: torch.device, *, half: bool) -> Iterator[None]:
        """What a GPU needs to be fast; a CPU nothing."""
        with ExitStack() as stack:
            if device.type == "cuda":
                # cuDNN's attention is compiled anew for every shape of batch
                stack.enter_context(sdpa_kernel(ATTENTION))
            if device.type == "cuda" and half:
                stack.enter_context(_half_linear.halved(self.model))
            yield

    def _mask(self, inside: Tensor, allowed: Tensor | None) -> Tensor:
        if not self.ready_mask:
            return inside.long()
        mask = inside[:, None, None] if allowed is None else allowed
        if self.model.config._attn_implementation == "sdpa":
            return mask
        dtype = next(self.model.parameters()).dtype  # added to the scores
        return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)

    def train(self, mode: bool = True) -> "Pretrained":
        """Frozen layers draw no dropout."""
        super().train(mode)
        for part in self.frozen:
            part.eval()
        return self

    def depths(self) -> dict[Tensor, int]:
        """How many layers lie above each parameter of the model, for a rate that falls with
        depth.
        """
        return _layers.depths_of(self.model)

    def finish(self) -> None:
        """The end of training: adapters become part of the weights, so that a saved model needs no
        peft.
        """
        if self.adapted:
            _lora.merge_adapters(self.model)
            self.adapted = False


def _specials(learned: Mapping[str, Numbers]) -> tuple[int, int]:
    """How many special tokens stand before a text and how many behind it."""
    found = learned["specials"]
    if found.shape != (2,) or found.dtype.kind != "i" or found.min() < 0:
        raise ModelError(
            "the numbers of special tokens must be two whole numbers from 0, got"
            f" {found.tolist()!r:.99}"
        )
    return int(found[0]), int(found[1])


PART = Pretrained
