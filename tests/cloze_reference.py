"""LM-MTC in slow loops from the paper: the template of eq. 2 and 8, the loss of eq. 4, and a model
with more words.

Nothing of the library is used here. A model reads slots as the paper would have it: its vocabulary
is made larger by the tokens of the slots, and they stand as ids between [CLS] and the text.
"""

import math
from functools import cache

import torch

MASK, NO, YES = "MASK", "NO", "YES"


def template_tokens(values, template="diff"):
    """Names of a template's tokens, eq. 2 (diff), eq. 8 (same) or one token a label (short)."""
    result = []
    for number, value in enumerate(values, start=1):
        if template == "diff":
            result += [f"LS-{number}", f"{value}-{number}", f"LE-{number}"]
        elif template == "same":
            result += ["LS", value, "LE"]
        else:
            result += [f"{value}-{number}"]
    return result


def places_of_answers(labels, template="diff"):
    """Where a template's answers stand in it."""
    tokens = template_tokens([MASK] * labels, template)
    return [place for place, token in enumerate(tokens) if token.split("-")[0] == MASK]


def mean_of_masked(logits, target, shown):
    """Eq. 4 with its sign put right, over the labels whose answer is not shown: a float, 0 where
    all are shown.
    """
    terms = []
    for logit, truth, visible in zip(logits, target, shown, strict=True):
        if not visible:
            signed = -logit if truth else logit
            # -log sigma(±logit)
            terms.append(max(signed, 0.0) + math.log1p(math.exp(-abs(signed))))
    return sum(terms) / len(terms) if terms else 0.0


@cache
def _read(folder, more):
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder).eval()
    size = model.config.vocab_size
    model.resize_token_embeddings(size + more, mean_resizing=False)
    return model, size


def states_of(folder, pieces, vectors, places=None):
    """The folder's model with more words, `vectors` (N, width of its words), which stand behind a
    text's first token.

    The last states of those words (N, D) and of the text's own pieces (T, D); `places` (T + N,)
    where they do not stand one after the other, as the model counts them.
    """
    model, size = _read(folder, 64)
    model, count = model.to(vectors.dtype), len(vectors)
    model.get_input_embeddings().weight.data[size : size + count] = vectors
    ids = torch.cat([pieces[:1], torch.arange(size, size + count), pieces[1:]])[None]
    more = {} if places is None else {"position_ids": places[None]}
    with torch.no_grad():
        states = model(
            input_ids=ids, attention_mask=torch.ones_like(ids), **more
        ).last_hidden_state[0]
    return states[1 : 1 + count], torch.cat([states[:1], states[1 + count :]])


def filled(scores_of, labels, rounds, zero=0.0):
    """Iterative filling of one text, the most confident label first: its logits, and how many
    passes it took.

    `scores_of`: values of the labels (MASK, NO, YES) -> their logits. After each round an even
    share of the labels is settled, those farthest from `zero`, where yes and no are as likely; the
    rounds after it are shown what they are. A label's logit is that of the round that settled it.
    """
    values, result, passes = [MASK] * labels, [0.0] * labels, 0
    for number in range(1, rounds + 1):
        logits = scores_of(list(values))
        passes += 1
        open_ones = [label for label in range(labels) if values[label] == MASK]
        for label in open_ones:
            result[label] = logits[label]
        due = round(number * labels / rounds) - (labels - len(open_ones))
        for label in sorted(open_ones, key=lambda one: -abs(logits[one] - zero))[: max(due, 0)]:
            values[label] = YES if logits[label] > zero else NO
    assert MASK not in values
    return result, passes
