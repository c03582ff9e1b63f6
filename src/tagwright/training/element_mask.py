"""Which labels each training text excuses by its words (MaskLoss A.3): by a given dictionary, or
one that is found.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from tagwright.explain.dependencies import find_elements
from tagwright.masks.dependencies import Elements, excused, read_elements, said, write_elements
from tagwright.masks.elements import ElementMask
from tagwright.models.device import device_of
from tagwright.training.prepared import Prepared
from tagwright.training.state import Run
from tagwright.training.step_stream import Interrupted
from tagwright.training.teacher import Teaching

SECONDS = 30  # between two sentences on a long search
FOUND = "lower mask.threshold, or train the model longer that words are found with"
GIVEN = (
    "mask.words must have a text's gold label and another one among the labels of its words, which"
    " are written as the tokenizer writes them (most in lower case)"
)


def excused_rows(
    teaching: Teaching, names: Sequence[str], mask: ElementMask, target: csr_array
) -> csr_array:
    """Labels that are not pushed down, sparse bool (n, L), of the texts of some tables with these
    targets (n, L).

    What a person should know of it is said, once: of train alone.
    """
    prepared = teaching.prepared
    elements = mask.elements
    if elements is None:
        elements = teaching.elements(lambda: found_elements(teaching, mask))
    texts = pa.chunked_array(
        [c for name in names for c in prepared.tables[name]["text"].chunks], pa.string()
    )
    words = prepared.tokenizer.encode_words(texts)
    found = csr_array(target.shape, dtype=bool)
    if len(elements):
        found = excused(words, elements, prepared.space, target)
    if list(names) == ["train"]:
        advice = GIVEN if mask.elements is not None else FOUND
        for sentence in (*said(words, elements, prepared.space), summary(found, advice)):
            teaching.run.say(sentence)
    return found


def summary(found: csr_array, advice: str = FOUND) -> str:
    """One sentence on how much a mask by words excuses, of bool (n, L).

    >>> summary(csr_array(np.array([[True, True, False], [False, False, False]])))
    'mask by words: 1 of 2 texts excuse labels, 2.0 of 3 on average'
    """
    count = np.diff(found.indptr)
    texts = np.count_nonzero(count)
    if not texts:
        return f"warning: no text excuses a label by its words, so the mask does nothing; {advice}"
    mean = f"{count.sum() / texts:.1f} of {found.shape[1]:,} on average"
    return f"mask by words: {texts:,} of {len(count):,} texts excuse labels, {mean}"


def check_elements(prepared: Prepared, mask: ElementMask) -> None:
    """Refuse a dictionary that has no label of the data."""
    if mask.elements is not None:
        nothing = csr_array((0, len(prepared.space)), dtype=np.float32)
        excused(prepared.tokenizer.encode_words([]), mask.elements, prepared.space, nothing)


def found_elements(teaching: Teaching, mask: ElementMask) -> Elements:
    """Words that labels depend on, by the mask's model or the teacher; kept beside it, and as
    elements.csv of the run.

    Of several processes all look, and take what the first found.
    """
    run, path = teaching.run, _kept(teaching, mask)
    if path is None:
        return _find(teaching, mask, None)
    if not run.ranks.all(path.is_file()):
        found = _find(teaching, mask, path.with_suffix(".blocks"))
        with run.ranks.together():
            if run.ranks.first:
                write_elements(path, found)
                shutil.rmtree(path.with_suffix(".blocks"), ignore_errors=True)
    with run.ranks.together():
        elements = _read(path)
        lasting = run.lasting("elements.csv")
        if lasting is not None and run.ranks.first and len(elements):
            write_elements(lasting, elements)
    return elements


def _kept(teaching: Teaching, mask: ElementMask) -> Path | None:
    store = teaching.store(mask.model)
    name = f"elements-{mask.select}-{mask.threshold}-{teaching.key(mask.model)[:16]}.csv"
    return None if store is None else store / name


def _find(teaching: Teaching, mask: ElementMask, blocks: Path | None) -> Elements:
    """Ask the model about every text without each of its words; `blocks` is where a killed search
    goes on.
    """
    run, model = teaching.run, teaching.model(mask.model)
    run.say(
        "words that labels depend on are looked for: each training text is scored without each of"
        " its words"
    )
    model.network.to(device_of(teaching.settings))
    found = find_elements(
        model,
        teaching.prepared.tables["train"],
        threshold=mask.threshold,
        select=mask.select,
        progress=_told(run),
        folder=blocks if run.ranks.first else None,
    )
    model.network.cpu()
    run.say(
        f"words: {len(found.elements.by_word):,} of {found.words:,} have labels that depend on"
        f" them, by {found.selected:,} of {found.texts:,} texts ({mask.select})"
    )
    return found.elements


def _told(run: Run) -> Callable[[int, int], None]:
    """Tells now and then how far a search is, and ends it where the run is asked to stop."""
    told = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told > SECONDS:
            told = time.monotonic()
            run.say(f"words: {done:,} of {total:,} texts without a word are scored")
        if (
            run.ranks.world == 1 and run.asked()
        ):  # several would have to agree, and may be at different places
            raise Interrupted(
                "stopped while words are looked for; what was scored is kept, go on with --resume"
            )

    return progress


def _read(path: Path) -> Elements:
    """The elements of a file that we wrote, which may be none."""
    lines = path.read_text(encoding="utf-8").count("\n")
    return Elements((), str(path)) if lines < 2 else read_elements(path)
