"""Tiny networks and batches of float64 that can be recomputed by hand, and the paper's divergences
as plain loops.
"""

import math

import torch
from torch import nn

from tagwright.batches.rows import Batch, HeadBatch
from tagwright.models.embeddings import Lookup
from tagwright.models.encoders import Encoder
from tagwright.models.heads import Head
from tagwright.models.hidden import Hidden
from tagwright.models.network import Network
from tagwright.objective import Objective
from tagwright.training.head_objective import HeadObjective

VOCABULARY, WIDTH = 13, 3
LENGTHS = torch.tensor([4, 1, 3, 0])
IDS = torch.tensor([[5, 2, 5, 7], [1, 0, 0, 0], [12, 3, 9, 0], [0, 0, 0, 0]])
TAGS = torch.tensor([[1, -1, 0, 2], [0, -1, -1, -1], [2, 2, -1, -1], [-1, -1, -1, -1]])


class Factors(nn.Module):
    """What dropout would be if it drew these factors: row by row of a pass, whatever pass it is."""

    def __init__(self, factors):
        super().__init__()
        self.factors = factors

    def forward(self, values):
        return values * self.factors[: len(values)].view(
            -1, *[1] * (values.dim() - 2), values.shape[-1]
        )


class Mean(Encoder):
    """The mean of a text's word vectors, and each of them: linear in the words."""

    def __init__(self, noise=None):
        super().__init__()
        self.lookup, self.noise, self.width_out = (
            Lookup((VOCABULARY,), width=WIDTH),
            noise or nn.Identity(),
            WIDTH,
        )

    def forward(self, ids, lengths):
        inside = torch.arange(ids.shape[1]) < lengths[:, None]
        states = self.noise(self.lookup(ids) * inside[..., None])
        return Hidden(states, states.sum(1) / lengths.clamp(min=1)[:, None])


class Linear(Head):
    """A head of `size` logits from the pooled vector, or from states where tokens are tagged."""

    def __init__(self, size, tokens=False):
        super().__init__()
        self.linear, self.tokens = nn.Linear(WIDTH, size), tokens

    def forward(self, hidden):
        return self.linear(hidden.states if self.tokens else hidden.pooled)


def network_of(heads, noise=None, seed=0):
    """Heads by name: how many logits, and whether they are of tokens."""
    torch.manual_seed(seed)
    made = Network(Mean(noise), {name: Linear(*given) for name, given in heads.items()}).double()
    for parameter in made.parameters():
        parameter.data.mul_(2)  # chances far from a half, and apart
    return made.train()


def objective_of(loss, link, *, tagged=False, weight=1.0, of_any_text=None):
    """What a head learns by: sums of a loss over examples."""
    return HeadObjective(
        Objective(loss), link=link, tags_tokens=tagged, weight=weight, of_any_text=of_any_text
    )


def batch_of(labels=5, tags=None, weight=None, target=None, **more):
    """Four texts, the last without words; every label stands in some of them. Without labels, tags
    are of `main`.
    """
    heads = {}
    if labels:
        if target is None:
            target = (torch.arange(4)[:, None] + torch.arange(labels)) % 3 == 0
        heads["main"] = HeadBatch(target.double(), **more)
    if tags is not None:
        heads["tags" if labels else "main"] = HeadBatch(torch.zeros(4, 0).double(), tags=tags)
    return weighed(Batch((IDS, LENGTHS), heads, None), weight)


def weighed(batch, weight):
    """The batch with what each text counts, for every head."""
    heads = {name: head._replace(weight=weight) for name, head in batch.heads.items()}
    return batch._replace(heads=heads, weight=weight)


def learning(batch, name, **facts):
    """The batch with other facts of what one head learns."""
    return batch._replace(heads={**batch.heads, name: batch.heads[name]._replace(**facts)})


def each(batch, change):
    """The batch with every tensor changed."""
    inputs, weight = (
        tuple(map(change, batch.inputs)),
        None if batch.weight is None else change(batch.weight),
    )
    heads = {
        name: HeadBatch(*(None if fact is None else change(fact) for fact in head))
        for name, head in batch.heads.items()
    }
    return Batch(inputs, heads, weight)


def rows_of(batch, rows):
    """The batch of some of its texts alone."""
    return each(batch, lambda tensor: tensor[rows])


def chances(scores, link):
    """Probabilities of a row of scores, as lists: of one distribution, or a Bernoulli a label."""
    if link == "softmax":
        total = sum(math.exp(score) for score in scores)
        return [math.exp(score) / total for score in scores]
    if link == "threshold_class":
        scores = [score - scores[-1] for score in scores[:-1]]
    return [1 / (1 + math.exp(-(2 if link == "sigmoid2" else 1) * score)) for score in scores]


def kl(scores, other, link):
    """Eq. 36, second line; of a softmax the sum over classes."""
    total = 0.0
    for p, q in zip(chances(scores, link), chances(other, link)):
        total += p * (math.log(p) - math.log(q))
        if link != "softmax":
            total += (1 - p) * (math.log(1 - p) - math.log(1 - q))
    return total


def symmetric(scores, other, link):
    """Eq. 37, its definition."""
    return kl(scores, other, link) + kl(other, scores, link)
