"""`cnn` beside LibMultiLabel's KimCNN on goemotions: texts a second of training, one epoch each,
same run, same cores.

    pip install libmultilabel lightning torchmetrics nltk transformers     # beside tagwright
    python benchmarks/cnn.py

Same shape for both: width 128, 128 filters of 3, 4 and 5 words, batch 32, words that came twice,
binary cross-entropy, Adam. Tokenizing is outside for both; batching, padding and the optimizer are
inside. Theirs gets its better number of data workers. Data are looked up in TAGWRIGHT_DATA, else in
../shared/data.
"""

import argparse
import logging
import os
import time
import warnings
from pathlib import Path

import torch

from tagwright.settings.schema import Settings
from tagwright.training.prepare import prepare
from tagwright.training.prepared import Prepared
from tagwright.training.read_data import read_for
from tagwright.training.train import Run, fit

FOLDER = Path(os.environ.get("TAGWRIGHT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def ours(prepared: Prepared, settings: Settings) -> float:
    """Texts a second of the steps of one epoch."""
    taken = 0.0

    def timed(stream, title, start, total):  # type: ignore[no-untyped-def]
        nonlocal taken
        started = time.perf_counter()
        for step in stream:
            # evaluations are not training
            taken += time.perf_counter() - started if step.score is None else 0.0
            yield step
            started = time.perf_counter()

    fit(prepared, settings, Run(progress=timed))
    return prepared.tables["train"].num_rows / taken


def theirs(prepared: Prepared, *, workers: int) -> float:
    """Texts a second of Lightning's one epoch."""
    import lightning as L
    from libmultilabel.nn.data_utils import UNK, get_dataset_loader, tokenize
    from libmultilabel.nn.nn_utils import init_model

    table, names = prepared.tables["train"], list(prepared.space.names)
    rows = [
        {"index": i, "text": tokenize(text), "label": labels}
        for i, (text, labels) in enumerate(
            zip(table["text"].to_pylist(), table["labels"].to_pylist())
        )
    ]
    words = {
        "<pad>": 0,
        UNK: 1,
        **{w: i for w, i in (prepared.tokenizer.vocabulary or {}).items() if i > 1},
    }
    config = {
        "filter_sizes": [3, 4, 5],
        "num_filter_per_size": 128,
        "embed_dropout": 0.0,
        "post_encoder_dropout": 0.5,
    }
    model = init_model(
        "KimCNN",
        config,
        names,
        embed_vecs=torch.randn(len(words), 128),
        learning_rate=1e-3,
        monitor_metrics=["P@1"],
        val_metric="P@1",
        silent=True,
    )
    loader = get_dataset_loader(
        rows,
        names,
        torch.device("cpu"),
        batch_size=32,
        shuffle=True,
        data_workers=workers,
        word_dict=words,
    )
    quiet = {
        "logger": False,
        "enable_progress_bar": False,
        "enable_checkpointing": False,
        "enable_model_summary": False,
    }
    trainer = L.Trainer(accelerator="cpu", max_epochs=1, **quiet)
    started = time.perf_counter()
    trainer.fit(model, loader)
    return len(rows) / (time.perf_counter() - started)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=int, default=0, help="only so many texts of train; 0 takes all"
    )
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.set_num_threads(min(2, os.cpu_count() or 1))
    given = {"objective": "bce", "encoder": "cnn", "fit": {"epochs": 1, "batch": 32, "clip": 0.0}}
    data, settings = read_for(str(FOLDER / "goemotions"), given)
    if options.rows:
        data.tables["train"] = data.tables["train"].slice(0, options.rows)  # type: ignore[index]
    prepared = prepare(data, settings)
    pairs = []
    for _ in range(options.rounds):  # in turn, so that a slow minute of the machine hits both
        pairs.append(
            (ours(prepared, settings), max(theirs(prepared, workers=workers) for workers in (0, 2)))
        )
        print(f"ours {pairs[-1][0]:,.0f}, theirs {pairs[-1][1]:,.0f} texts a second", flush=True)
    ratios = sorted(own / other for own, other in pairs)
    print(f"median ratio {ratios[len(ratios) // 2]:.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}")


if __name__ == "__main__":
    main()
