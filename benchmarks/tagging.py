"""BAT on a CPU beside what a user would take instead: spaCy's `tok2vec + ner`, and a plain loop
over torch's encoder.

    pip install 'tagwright' spacy
    python benchmarks/tagging.py --sets conll2003 inspec --minutes 3

Data are looked up in TAGWRIGHT_DATA, else in ../shared/data. Three measurements, each with its
rival in turn:

- tagging: words a second of dev, from tokens to spans, both models untrained (speed does not depend
  on what is known);
- training: tokens a second, beside a loop over `nn.TransformerEncoder` of as many weights, hidden
  128, 4 layers and heads, the same embeddings and batch, texts in random order padded to the
  batch's longest, AdamW;
- quality: entity F1 on dev after the same minutes of training, spaCy from blank with the settings
  of its own template for efficiency (`spacy init config --optimize efficiency`), best epoch of
  each.
"""

import argparse
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from tagwright import registry
from tagwright.batches.inputs import collate
from tagwright.inference.model import Model, TrainedHead
from tagwright.inference.spans import find_spans, given_tokens
from tagwright.inference.tagged_tokens import flat
from tagwright.models.encoders.bat import BAT
from tagwright.settings.merge import assigned, side_by_side
from tagwright.settings.schema import Settings, resolve
from tagwright.training.prepare import prepare
from tagwright.training.prepared import Prepared
from tagwright.training.read_data import read_for
from tagwright.training.state import Run
from tagwright.training.train import _network, fit

CLOCK = time.perf_counter
FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))
EMBED = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 96,
    "attrs": ["NORM", "PREFIX", "SUFFIX", "SHAPE"],
    "rows": [5000, 1000, 2500, 2500],
    "include_static_vectors": False,
}
ENCODE = {
    "@architectures": "spacy.MaxoutWindowEncoder.v2",
    "width": 96,
    "depth": 4,
    "window_size": 1,
    "maxout_pieces": 3,
}
PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "hidden_width": 64,
    "maxout_pieces": 2,
    "use_upper": True,
    "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"},
}


def their_pipeline() -> Any:
    """A blank pipeline of tok2vec and ner."""
    import spacy

    made = spacy.blank("xx")
    made.add_pipe(
        "tok2vec",
        config={"model": {"@architectures": "spacy.Tok2Vec.v2", "embed": EMBED, "encode": ENCODE}},
    )
    made.add_pipe("ner", config={"model": PARSER})
    return made


def their_examples(pipeline: Any, table: pa.Table) -> list[Any]:
    """Texts with their spans, as it learns from them."""
    from spacy.tokens import Doc
    from spacy.training import Example, biluo_tags_to_spans, iob_to_biluo

    made = []
    for words, tags in zip(table["tokens"].to_pylist(), table["tags"].to_pylist()):
        given, gold = Doc(pipeline.vocab, words=words), Doc(pipeline.vocab, words=words)
        gold.ents = biluo_tags_to_spans(gold, iob_to_biluo(tags))
        made.append(Example(given, gold))
    return made


def their_tags(pipeline: Any, table: pa.Table) -> tuple[float, list[Any]]:
    """Seconds to find the spans of texts that are cut already, and the texts."""
    from spacy.tokens import Doc

    docs = [Doc(pipeline.vocab, words=words) for words in table["tokens"].to_pylist()]
    started = CLOCK()
    found = list(pipeline.pipe(docs))
    return CLOCK() - started, found


def their_fit(
    prepared: Prepared, *, seconds: float, batch: int
) -> Iterator[tuple[float, float, float]]:
    """Seconds of training, words a second of it, and entity F1 on dev, after each pass."""
    from spacy.util import minibatch
    from thinc.api import Adam

    pipeline = their_pipeline()
    train, dev = (their_examples(pipeline, prepared.tables[name]) for name in ("train", "dev"))
    pipeline.initialize(lambda: train)
    gold = [one.y for one in dev]
    optimizer, spent, words, order = Adam(0.001, L2=0.01, grad_clip=1.0), 0.0, 0, random.Random(0)
    while spent < seconds:
        order.shuffle(train)
        started = CLOCK()
        for group in minibatch(train, size=batch):
            pipeline.update(group, sgd=optimizer, drop=0.1)
            words += sum(len(one.x) for one in group)
            if spent + CLOCK() - started >= seconds:
                break
        spent += CLOCK() - started
        docs = their_tags(pipeline, prepared.tables["dev"])[1]
        found, true = (
            [{(s.start, s.end, s.label_) for s in doc.ents} for doc in some]
            for some in (docs, gold)
        )
        hits = sum(len(a & b) for a, b in zip(found, true))
        yield spent, words / spent, 2 * hits / max(sum(map(len, found)) + sum(map(len, true)), 1)


def our_fit(prepared: Prepared, settings: Settings) -> list[tuple[float, float]]:
    """Seconds of training and entity F1 on dev after each evaluation; `--epochs` says how long it
    trains.
    """
    spent, found = 0.0, []

    def timed(stream, title, start, total):  # type: ignore[no-untyped-def]
        nonlocal spent
        started = CLOCK()
        for step in stream:
            if step.score is None:
                spent += CLOCK() - started
            else:  # the evaluation is not training; of its step the time is left out
                found.append((spent, step.score))
            yield step
            started = CLOCK()

    fit(prepared, settings, Run(progress=timed))
    return found


def untrained(prepared: Prepared, settings: Settings) -> Model:
    """A model as `fit` would start it."""
    decision = registry.build("decisions", "spans", {}, label_names=prepared.space.names)
    head = TrainedHead(space=prepared.space, link="softmax", rule="spans", decision=decision)
    made = {"settings": settings, "tokenizer": prepared.tokenizer, "learned": prepared.learned}
    return Model(network=_network(prepared, settings), heads={"main": head}, **made)


def compare_tagging(prepared: Prepared, settings: Settings, rounds: int) -> None:
    """Words a second of both, in turn."""
    table = prepared.tables["dev"]
    words = len(flat(table["tokens"]))
    model, pipeline = untrained(prepared, settings), their_pipeline()
    sample = their_examples(pipeline, prepared.tables["train"].slice(0, 500))
    pipeline.initialize(lambda: sample)
    ratios = []
    for number in range(rounds + 1):
        started = CLOCK()
        find_spans(model, given_tokens(table["tokens"])[1])
        ours, theirs = CLOCK() - started, their_tags(pipeline, table)[0]
        if number:  # the first is warm-up
            ratios.append(theirs / ours)
            print(
                f"  tag: ours {words / ours:,.0f}, spaCy {words / theirs:,.0f} words a second",
                flush=True,
            )
    _told("tag", ratios)


class PlainTagger(nn.Module):
    """What a tutorial has: embeddings, positions, torch's encoder, a linear layer."""

    def __init__(self, sizes: tuple[int, ...], labels: int, feed: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(size, 128, padding_idx=0) for size in sizes)
        self.places = nn.Embedding(2048, 128)
        layer = nn.TransformerEncoderLayer(128, 4, feed, dropout=0.0, batch_first=True)
        self.encoder, self.head = (
            nn.TransformerEncoder(layer, 4, enable_nested_tensor=False),
            nn.Linear(128, labels),
        )

    def forward(self, ids: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        """Ids (B, T, F), padding (B, T) -> logits (B, T, L)."""
        states = sum(table(ids[..., n]) for n, table in enumerate(self.tables))
        states = states + self.places(torch.arange(ids.shape[1]))
        return self.head(self.encoder(states, src_key_padding_mask=padding))


def their_loop(prepared: Prepared, *, batch: int, feed: int, steps: int) -> float:
    """Tokens a second of a plain loop."""
    sheet, random_order = prepared.sheets["train"], np.random.default_rng(0)
    model = PlainTagger(prepared.tokenizer.sizes, len(prepared.space), feed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    texts = len(sheet.offsets) - 1
    order, tokens, started = random_order.permutation(texts), 0, CLOCK()
    for number in range(steps + 2):
        if number == 2:
            started, tokens = CLOCK(), 0
        index = np.take(order, np.arange(number * batch, (number + 1) * batch), mode="wrap")
        ids, lengths = collate(sheet.tokens, index)
        padding = torch.arange(ids.shape[1]) >= lengths[:, None]
        tags = torch.full(padding.shape, -100)
        for row, text in enumerate(index.tolist()):
            own = sheet.tags[sheet.offsets[text] : sheet.offsets[text + 1]][: ids.shape[1]]
            tags[row, : len(own)] = torch.from_numpy(own)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(ids, padding).flatten(0, 1), tags.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        tokens += int(lengths.sum())
    return tokens / (CLOCK() - started)


def our_loop(prepared: Prepared, settings: Settings, *, steps: int) -> float:
    """Tokens a second of `fit`'s steps."""
    texts = prepared.tables["train"].num_rows
    given = settings.as_dict()
    epochs = (steps + 2) * settings.fit.batch / texts
    short = resolve(
        {**given, "fit": {**given["fit"], "epochs": epochs, "evaluations": 0.01}}, "tokens"
    )
    marks: list[float] = []

    def timed(stream, title, start, total):  # type: ignore[no-untyped-def]
        for step in stream:
            marks.append(CLOCK())
            yield step

    fit(prepared, short, Run(progress=timed))
    mean = len(prepared.sheets["train"].tags) / texts * settings.fit.batch
    return mean * (len(marks) - 3) / (marks[-2] - marks[1])  # the last has an evaluation behind it


def compare_training(prepared: Prepared, settings: Settings, rounds: int, steps: int) -> None:
    """Tokens a second of both, in turn."""
    weights = sum(
        p.numel() for n, p in BAT(prepared.tokenizer.sizes).named_parameters() if "lookup" not in n
    )
    for feed in (832, 512):
        own = sum(
            p.numel()
            for n, p in PlainTagger((1,), 1, feed).named_parameters()
            if n.startswith("encoder")
        )
        ratios = []
        for _ in range(rounds):
            ours = our_loop(prepared, settings, steps=steps)
            theirs = their_loop(prepared, batch=settings.fit.batch, feed=feed, steps=steps)
            ratios.append(ours / theirs)
            print(
                f"  train: ours {ours:,.0f}, plain loop {theirs:,.0f} tokens a second", flush=True
            )
        _told(f"train, {weights:,} weights beside {own:,} (feed {feed})", ratios)


def _told(work: str, ratios: list[float]) -> None:
    ratios = sorted(ratios)
    print(
        f"  {work}: median ratio {ratios[len(ratios) // 2]:.2f}, from {ratios[0]:.2f} to"
        f" {ratios[-1]:.2f}",
        flush=True,
    )


def main() -> None:
    """Print the tables."""
    global CLOCK
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", default=["conll2003", "inspec"])
    parser.add_argument(
        "--minutes", type=float, default=0.0, help="of training of each; 0 leaves quality out"
    )
    parser.add_argument(
        "--epochs", type=float, default=0.0, help="of ours: about what the minutes hold"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--cpu-time", action="store_true", help="the process's own time: with 1 thread"
    )
    parser.add_argument("--only", nargs="+", default=["tag", "train", "quality"])
    parser.add_argument(
        "--set", action="append", default=[], help="settings of ours, as section.key=value"
    )
    options = parser.parse_args()
    CLOCK = time.process_time if options.cpu_time else time.perf_counter
    torch.set_num_threads(min(options.threads, os.cpu_count() or 1))
    for name in options.sets:
        given: dict[str, Any] = {"fit": {"device": "cpu"}}
        given = side_by_side(given, assigned(options.set))
        if options.epochs:
            given["fit"]["epochs"] = options.epochs
        data, settings = read_for(str(FOLDER / name), given)
        prepared = prepare(data, settings)
        lengths = np.diff(prepared.sheets["train"].offsets)
        print(
            f"{name}: {len(lengths)} texts, {lengths.mean():.0f} tokens on average, at most"
            f" {lengths.max()}"
        )
        if "tag" in options.only:
            compare_tagging(prepared, settings, options.rounds)
        if "train" in options.only:
            compare_training(prepared, settings, options.rounds, options.steps)
        if "quality" in options.only and options.minutes:
            for spent, rate, score in their_fit(
                prepared, seconds=60 * options.minutes, batch=settings.fit.batch
            ):
                print(
                    f"  spaCy: {spent:.0f} s, {rate:,.0f} words a second, entity F1 {score:.4f}",
                    flush=True,
                )
            for spent, score in our_fit(prepared, settings):
                print(f"  ours: {spent:.0f} s, entity F1 {score:.4f}", flush=True)


if __name__ == "__main__":
    main()
