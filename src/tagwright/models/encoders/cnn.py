"""TextCNN: windows of words, the strongest answer of each filter (Kim 2014,
arxiv.org/abs/1408.5882). Takes tokens.

A filter over w words is a sum of w products, one for each word and its place in the window. So each
distinct word of a batch is multiplied once, and a window only adds up rows of the result; most of a
batch's words are repeated words.
"""

import math
from collections.abc import Iterator
from itertools import accumulate
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from tagwright.arrays import Floats
from tagwright.errors import SettingsError
from tagwright.loss_math.context import Context
from tagwright.models.embeddings import Lookup
from tagwright.models.encoders import Encoder
from tagwright.models.encoders.without_words import Removals, strongest
from tagwright.models.hidden import Hidden


class CNN(Encoder):
    """Ids (B, T) or (B, T, F) and lengths (B,) to `pooled` (B, windows x filters); no states.

    A text shorter than a window is filled up to it with zero vectors, an empty one too. Padding
    changes nothing.
    """

    whole_texts = True  # no states of tokens
    skips = True
    # has a word vector of its own, though words repeat: someone moves them one by one
    every_place = False

    def __init__(
        self,
        sizes: tuple[int, ...],
        vectors: Floats | None = None,
        *,
        width: int = 128,
        filters: int = 128,
        windows: tuple[int, ...] = (3, 4, 5),
        dropout: float = 0.5,
        freeze: bool = False,
    ) -> None:
        super().__init__()
        if not windows or min(windows) < 1:
            raise SettingsError(f"windows must be one or more whole numbers from 1, got {windows}")
        self.windows = tuple(windows)
        self.filters = filters
        self.width_out = filters * len(self.windows)
        self.lookup = Lookup(sizes, width=width, vectors=vectors, freeze=freeze)
        # columns: for each window, for each of its places, all filters
        self.kernel = nn.Parameter(torch.empty(width, sum(self.windows) * filters))
        self.bias = nn.Parameter(torch.zeros(self.width_out))
        for part, window in zip(
            self.kernel.data.split([w * filters for w in self.windows], 1), self.windows
        ):
            nn.init.normal_(part, std=math.sqrt(2 / (width * window)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, lengths: Tensor) -> Hidden:
        """The largest answer of every filter over a text's windows, with ReLU and dropout."""
        ids = self._pad(ids, lengths)
        distinct, places = _laid_out(ids) if self.every_place else _distinct(ids, self.lookup.sizes)
        products = self.lookup(distinct)[0] @ self.kernel  # (U, sum of windows x filters)
        best = WindowMax.apply(products, places, lengths, self.windows)
        # ReLU and bias commute with the maximum, and after it they touch T times fewer numbers
        return Hidden(None, self.dropout(F.relu(best + self.bias)))

    def without(self, ids: Tensor, lengths: Tensor, cuts: Removals) -> Iterator[Hidden]:
        """`forward` of every copy of these texts that leaves some tokens out, in parts; nothing is
        differentiated.
        """
        past = torch.arange(ids.shape[1], device=ids.device) >= lengths[:, None]
        ids = ids.masked_fill(past if ids.dim() == 2 else past[..., None], 0)
        width = max(self.windows)
        distinct, places = _distinct(
            F.pad(ids, (0, width) if ids.dim() == 2 else (0, 0, 0, width)), self.lookup.sizes
        )
        products = self.lookup(distinct)[0] @ self.kernel
        for best in strongest(products, places, lengths, self.windows, cuts):
            yield Hidden(None, best.add_(self.bias).relu_())

    def _pad(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Make every window fit behind every start, and whatever lies past a text's length
        padding.
        """
        starts = max(ids.shape[1] - min(self.windows) + 1, 1)
        extra = starts + max(self.windows) - 1 - ids.shape[1]
        past = torch.arange(ids.shape[1], device=ids.device) >= lengths[:, None]
        ids = ids.masked_fill(past if ids.dim() == 2 else past[..., None], 0)
        return F.pad(ids, (0, extra) if ids.dim() == 2 else (0, 0, 0, extra))


def _distinct(ids: Tensor, sizes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Distinct tokens (1, U) or (1, U, F) of a batch, and which of them stands at each place (B,
    T).

    Off the CPU every place counts as distinct: to find repetitions would stall the device.
    """
    if ids.device.type != "cpu":
        return _laid_out(ids)
    if ids.dim() == 2:
        distinct, places = torch.unique(ids, return_inverse=True)
        return distinct[None], places
    keys = ids[..., 0]
    for channel, size in enumerate(sizes[1:], start=1):
        keys = keys * size + ids[..., channel]
    keys, places = torch.unique(keys, return_inverse=True)
    channels = []
    for size in reversed(sizes[1:]):
        channels.append(keys % size)
        keys = keys // size
    return torch.stack([keys, *reversed(channels)], -1)[None], places


def _laid_out(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Every place's token (1, B x T) or (1, B x T, F), and its number (B, T)."""
    return ids.flatten(0, 1)[None], torch.arange(
        ids.shape[0] * ids.shape[1], device=ids.device
    ).view(ids.shape[:2])


class _Best(Context, Protocol):
    windows: tuple[int, ...]
    shape: torch.Size
    saved_tensors: tuple[Tensor, Tensor]


class WindowMax(torch.autograd.Function):
    """Add up products over each window's words and keep the largest sum of every filter.

    products (U, sum of windows x filters), places (B, T) into U, lengths (B,) -> (B, windows x
    filters). T must leave room for the largest window behind every start of the smallest. Ties go
    to the first window.
    """

    @staticmethod
    def forward(
        ctx: _Best, products: Tensor, places: Tensor, lengths: Tensor, windows: tuple[int, ...]
    ) -> Tensor:
        """The maximum over starts; a start counts if its window ends inside the text, the first
        start always does.
        """
        sums = _window_sums(products, places, windows)  # (B, S, W, filters)
        starts = torch.arange(sums.shape[1], device=sums.device)[:, None]
        ends = starts + _constant(windows, sums.device)  # (S, W)
        outside = (ends > lengths[:, None, None]) & (starts > 0)
        sums.masked_fill_(outside[..., None], -math.inf)
        best = sums.amax(1)
        if ctx.needs_input_grad[0]:
            # twice amax is several times faster than max with its index; the highest number marks
            # the first start
            numbers = torch.arange(sums.shape[1], 0, -1, device=sums.device, dtype=torch.int32)[
                :, None, None
            ]
            # NaN equals nothing
            chosen = sums.shape[1] - ((sums == best[:, None]) * numbers).amax(1).clamp_(min=1)
            ctx.save_for_backward(places, chosen)
            ctx.windows, ctx.shape = windows, products.shape
        return best.flatten(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: _Best, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        """Each filter's gradient goes to the words of its best window."""
        places, chosen = ctx.saved_tensors
        window_of, step_of = _columns(ctx.windows, places.device)
        # (B, sum of windows, filters)
        words = chosen.long().index_select(1, window_of) + step_of[:, None]
        rows = places.gather(1, words.flatten(1))
        columns = torch.arange(ctx.shape[1], device=places.device)
        values = gradient.reshape(chosen.shape).index_select(1, window_of)
        result = gradient.new_zeros(ctx.shape[0] * ctx.shape[1])
        result.scatter_add_(0, (rows * ctx.shape[1] + columns).flatten(), values.flatten())
        return result.view(ctx.shape), None, None, None


def _window_sums(products: Tensor, places: Tensor, windows: tuple[int, ...]) -> Tensor:
    """Sums of every window at every start, (B, S, W, filters); each window is a bag of rows."""
    _, step_of = _columns(windows, places.device)
    width, starts = len(step_of), places.shape[1] - max(windows) + 1
    around = places.unfold(1, max(windows), 1)[..., step_of]  # (B, S, sum of windows)
    rows = around * width + torch.arange(width, device=places.device)
    firsts = _constant(tuple(accumulate(windows[:-1], initial=0)), places.device)
    offsets = torch.arange(0, rows.numel(), width, device=places.device)[:, None] + firsts
    sums = F.embedding_bag(
        rows.flatten(), products.view(-1, products.shape[1] // width), offsets.flatten(), mode="sum"
    )
    return sums.view(len(places), starts, len(windows), -1)


def _columns(windows: tuple[int, ...], device: torch.device) -> tuple[Tensor, Tensor]:
    """For each block of the kernel's columns, its window and its place in the window."""
    window_of = torch.cat(
        [torch.full((window,), index, device=device) for index, window in enumerate(windows)]
    )
    step_of = torch.cat([torch.arange(window, device=device) for window in windows])
    return window_of, step_of


def _constant(values: tuple[int, ...], device: torch.device) -> Tensor:
    """Numbers made on the device: a copy from the host would break a captured CUDA graph."""
    return torch.cat([torch.full((1,), value, device=device) for value in values])


PART = CNN
