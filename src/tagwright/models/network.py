"""The network: one encoder and its named heads."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from torch import Tensor, nn

from tagwright.models.encoders import Encoder
from tagwright.models.heads import Head
from tagwright.models.hidden import Hidden, over_windows


class Heads(nn.ModuleDict):
    """Heads by any name, also by one that a module has itself, such as "type"."""

    def __setitem__(self, key: str, module: nn.Module) -> None:
        self._modules[key] = module

    if TYPE_CHECKING:

        def __getitem__(self, key: str) -> Head:
            """The head of this name."""
            return self[key]

    def __setattr__(self, name: str, value: Tensor | nn.Module | bool) -> None:
        if isinstance(value, bool):  # `training`, whatever a head is called
            self.__dict__[name] = value
        else:
            super().__setattr__(name, value)


class Network(nn.Module):
    """Inputs -> logits of every head."""

    encoder: Encoder

    def __init__(self, encoder: Encoder, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.encoder, self.heads = encoder, Heads(heads)
        # the digest of the model folder that its weights were read from, or written to
        self.origin: str | None = None

    @property
    def slotted(self) -> str | None:
        """The name of the head whose labels stand before the text, as slots; at most one does."""
        return next((name for name, head in self.heads.items() if head.has_slots), None)

    def _head(self, name: str) -> Head:
        return self.heads[name]

    def forward(self, *inputs: Tensor) -> dict[str, Tensor]:
        """What `Inputs.batch` gives -> {head: logits (B, L)}."""
        return self.run(*inputs)[1]

    def run(
        self, *inputs: Tensor, shown: Tensor | None = None, without: Collection[str] = ()
    ) -> tuple[Hidden, dict[str, Tensor]]:
        """The encoder's answer, and the logits of every head that takes it as it is, but for those
        `without`.

        `shown` (B, L) is for a head whose labels stand before the text, as slots: what each of them
        shows.
        """
        slotted = self.slotted
        slots = {} if slotted is None else {"slots": self._head(slotted).slots_of(inputs, shown)}
        hidden = self.encoder(*inputs, **slots)
        heads = [
            (name, head)
            for name, head in self.heads.items()
            if not head.beside and name not in without
        ]
        logits = {name: head(hidden) for name, head in heads}
        if hidden.windows is None:
            return hidden, logits
        return hidden, {name: over_windows(found, hidden.windows) for name, found in logits.items()}

    def hidden(self, *inputs: Tensor) -> Tensor:
        """The texts' vectors (B, D), for a head that takes its labels in chunks."""
        hidden, _ = self.run(*inputs, without=list(self.heads))
        pooled: Tensor = hidden.pooled
        return pooled

    def of_labels(self, *inputs: Tensor, heads: Collection[str] | None = None) -> dict[str, Tensor]:
        """Logits of labels alone, above a threshold class where a head has one; of these heads,
        None: of all.
        """
        asked = {*(self.heads if heads is None else heads)}
        name, logits = self.slotted, {}
        if name is not None and name in asked and self._head(name).rounds > 1:
            asked.remove(name)
            logits[name] = self._in_rounds(name, *inputs)
        if asked:
            logits |= self.run(*inputs, without=self.heads.keys() - asked)[1]
        return {one: self._head(one).of_labels(found) for one, found in logits.items()}

    def _in_rounds(self, name: str, *inputs: Tensor) -> Tensor:
        """Logits (B, L) of a head that fills its slots in several passes."""
        others = self.heads.keys() - {name}
        found: Tensor = self._head(name).filled(
            lambda shown: self.run(*inputs, shown=shown, without=others)[1][name]
        )
        return found


def soft_head(name: str) -> str:
    """The name of the second head that soft labels have beside a head; no head of a model is called
    so.
    """
    return f"{name} soft"
