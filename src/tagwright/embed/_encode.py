"""Texts to flat ids by a `tokenizers.Tokenizer` (Rust, all cores)."""

from itertools import chain

import numpy as np
from tokenizers import Tokenizer

from tagwright.batches.tokens import Tokens
from tagwright.embed._texts import Texts, slices


def encoded(tokenizer: Tokenizer, texts: Texts, *, special: bool = False) -> Tokens:
    """Ids (N,) of every text, with the tokenizer's special tokens around it where `special`."""
    ids, lengths = [np.empty(0, np.int32)], [np.zeros(1, np.int64)]
    for part in slices(texts):
        rows = [encoding.ids for encoding in tokenizer.encode_batch_fast(part, add_special_tokens=special)]
        lengths.append(np.fromiter(map(len, rows), np.int64, len(rows)))
        ids.append(np.fromiter(chain.from_iterable(rows), np.int32, int(lengths[-1].sum())))
    return Tokens(np.concatenate(ids), np.cumsum(np.concatenate(lengths)))
