"""What the tagging encoders share: from ids to the first layer, and from the last layer to
`Hidden`.

Words become vectors (`Lookup`), a linear map brings them to the layers' width, and sinusoids of
their positions are added (Vaswani et al. 2017, section 3.5, arxiv.org/abs/1706.03762). There is no
longest text.
"""

import math
from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from tagwright.arrays import Floats
from tagwright.data.dataset import Size
from tagwright.errors import SettingsError, unknown
from tagwright.models.embeddings import Lookup
from tagwright.models.encoders import Encoder
from tagwright.models.encoders._padding import Inside, inside_of
from tagwright.models.hidden import Hidden

NORMS = ("post", "pre")
POOLINGS = ("mean", "max")
FEW = 2000  # texts


class TaggingEncoder(Encoder):
    """What these encoders have in common: ids (B, T) or (B, T, F) and lengths (B,) through layers
    to the state of every token, and one vector a text.

    `make` makes a layer; `counts` are settings of their own that must be whole numbers from 1.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        vectors: Floats | None,
        make: Callable[[], nn.Module],
        *,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        feed: int,
        dropout: float,
        norm: str = "post",
        pooling: str,
        freeze: bool,
        counts: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        check(
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed=feed,
            dropout=dropout,
            norm=norm,
            pooling=pooling,
            **(counts or {}),
        )
        self.width_out = hidden
        self.shell = Shell(
            sizes,
            [make() for _ in range(layers)],
            width=width,
            hidden=hidden,
            dropout=dropout,
            norm=norm,
            pooling=pooling,
            vectors=vectors,
            freeze=freeze,
        )

    def forward(self, ids: Tensor, lengths: Tensor) -> Hidden:
        """Every token's state after the last layer, and one vector a text."""
        hidden: Hidden = self.shell(ids, lengths)
        return hidden

    @staticmethod
    def defaults(
        task: str, objective: str | None, options: Mapping[str, object], size: Size | None
    ) -> Mapping[str, object]:
        """What suits these encoders where tokens are tagged (docs/tagging.md has the evidence).

        Small batches, for a text has many tokens; dropout, much of it where texts are so few that
        they are soon known by heart.
        """
        if task not in ("tokens", "both"):
            return {}
        few = size is not None and size.rows < FEW
        return {"encoder": {"dropout": 0.4 if few else 0.1}, "fit": {"batch": 16}}


class Shell(nn.Module):
    """Ids (B, T) or (B, T, F) and lengths (B,) through `layers` to states (B, T, hidden) and pooled
    (B, hidden).

    A layer takes states (B, T, hidden) and `Inside`, and must not let padding change a token.
    Layers that normalize their input (`norm="pre"`) leave their sum as it grew: it is normalized
    once, behind the last.
    """

    angles: Tensor  # (hidden,)
    phases: Tensor  # (hidden,)

    def __init__(
        self,
        sizes: tuple[int, ...],
        layers: Iterable[nn.Module],
        *,
        width: int,
        hidden: int,
        dropout: float,
        norm: str,
        pooling: str,
        vectors: Floats | None,
        freeze: bool,
    ) -> None:
        super().__init__()
        self.pooling = pooling
        self.lookup = Lookup(sizes, width=width, vectors=vectors, freeze=freeze)
        self.project = linear(width, hidden)
        self.scale = math.sqrt(hidden)
        angles, phases = _waves(hidden)
        self.register_buffer("angles", angles, persistent=False)
        self.register_buffer("phases", phases, persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(hidden) if norm == "pre" else nn.Identity()

    def forward(self, ids: Tensor, lengths: Tensor) -> Hidden:
        """States past a text's length are zero; an empty text pools to zero."""
        states, inside = self.embed(ids, lengths)
        for layer in self.layers:
            states = layer(states, inside)
        states = self.norm(states)
        if inside.keys is not None:
            states = states.masked_fill(~inside.tokens[..., None], 0)
        return Hidden(states, self._pool(states, inside))

    def embed(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, Inside]:
        """What the first layer takes: states (B, T, hidden), and which of them are tokens."""
        words = self.project(self.lookup(ids))
        # the root of the width makes words about as large as positions (Vaswani et al., section
        # 3.4)
        states = torch.add(self.positions(ids.shape[1]), words, alpha=self.scale)
        return self.dropout(states), inside_of(lengths, ids.shape[1], dtype=states.dtype)

    def positions(self, count: int) -> Tensor:
        """Sine and cosine by turns, (count, hidden): from wave length 2 pi up to 20,000 pi."""
        places = torch.arange(count, device=self.angles.device, dtype=self.angles.dtype)
        return torch.addcmul(self.phases, places[:, None], self.angles).sin_()

    def _pool(self, states: Tensor, inside: Inside) -> Tensor:
        if self.pooling == "mean":
            return states.sum(1) / inside.lengths.clamp(min=1)[:, None]
        best = states.masked_fill(~inside.tokens[..., None], -math.inf).amax(1)
        return best.masked_fill((inside.lengths == 0)[:, None], 0)


def check(
    *,
    hidden: int,
    layers: int,
    heads: int,
    feed: int,
    dropout: float,
    pooling: str,
    norm: str = "post",
    **own: int,
) -> None:
    """Refuse settings that make no encoder, all faults at once; `own` settings are whole numbers
    from 1 as well.
    """
    counts = {"hidden": hidden, "layers": layers, "heads": heads, "feed": feed, **own}
    faults = [
        f"{name} must be a whole number from 1, got {value}"
        for name, value in counts.items()
        if value < 1
    ]
    if heads > 0 and hidden % heads:
        faults.append(f"hidden must be a multiple of heads, got hidden {hidden} and heads {heads}")
    if not 0 <= dropout < 1:
        faults.append(f"dropout must be at least 0 and less than 1, got {dropout}")
    if norm not in NORMS:
        faults.append(unknown("norm", norm, NORMS))
    if pooling not in POOLINGS:
        faults.append(unknown("pooling", pooling, POOLINGS))
    if faults:
        raise SettingsError("; ".join(faults))


def linear(width: int, out: int) -> nn.Linear:
    """A linear layer that starts as Glorot's uniform, with no bias; torch's own start would be
    narrower.
    """
    layer = nn.Linear(width, out)
    glorot(layer.weight, width + out)
    nn.init.zeros_(layer.bias)
    return layer


def glorot(weight: Tensor, fan: int) -> None:
    """Fill a weight, or a block of one that several maps share, by the sum of one map's inputs and
    outputs.
    """
    nn.init.uniform_(weight.detach(), -math.sqrt(6 / fan), math.sqrt(6 / fan))


def _waves(hidden: int) -> tuple[Tensor, Tensor]:
    """Angle a position and phase of each column (hidden,); a cosine is a sine a quarter ahead."""
    columns = torch.arange(hidden)
    angles = torch.exp((columns // 2 * 2).double() * (-math.log(10_000) / hidden))
    return angles.float(), (columns % 2).float() * (math.pi / 2)
