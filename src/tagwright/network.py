"""The network: one encoder and its named heads."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from tagwright.encoders import Encoder
from tagwright.encoders.hidden import Hidden, over_windows


class Network(nn.Module):
    """Inputs -> logits of every head."""

    encoder: Encoder

    def __init__(self, encoder: Encoder, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.encoder, self.heads = encoder, nn.ModuleDict(heads)

    @property
    def slotted(self) -> str | None:
        """The name of the head whose labels stand before the text, as slots; at most one does."""
        return next((name for name, head in self.heads.items() if head.has_slots), None)

    def _head(self, name: str) -> Any:
        return self.heads[name]

    def forward(self, *inputs: Tensor) -> dict[str, Tensor]:
        """What `Inputs.batch` gives -> {head: logits (B, L)}."""
        return self.run(*inputs)[1]

    def run(self, *inputs: Tensor, shown: Tensor | None = None) -> tuple[Hidden, dict[str, Tensor]]:
        """The encoder's answer, and the logits of every head that takes it as it is.

        `shown` (B, L) is for a head whose labels stand before the text, as slots: what each of them shows.
        """
        slotted = self.slotted
        slots = {} if slotted is None else {"slots": self._head(slotted).slots_of(inputs, shown)}
        hidden = self.encoder(*inputs, **slots)
        logits = {name: head(hidden) for name, head in self.heads.items() if not head.beside}
        if hidden.windows is None:
            return hidden, logits
        return hidden, {name: over_windows(found, hidden.windows) for name, found in logits.items()}

    def hidden(self, *inputs: Tensor) -> Tensor:
        """The texts' vectors (B, D), for a head that takes its labels in chunks."""
        pooled: Tensor = self.encoder(*inputs).pooled
        return pooled

    def of_labels(self, *inputs: Tensor) -> dict[str, Tensor]:
        """The same with the logits of labels alone, above a threshold class where a head has one."""
        name = self.slotted
        if name is not None and self._head(name).rounds > 1:
            logits = {name: self._head(name).filled(lambda shown: self.run(*inputs, shown=shown)[1][name])}
        else:
            logits = self(*inputs)
        return {name: self.heads[name].of_labels(found) for name, found in logits.items()}  # type: ignore[operator]
