"""The network: one encoder and its named heads."""

from collections.abc import Mapping

from torch import Tensor, nn

from tagwright.encoders.hidden import over_windows


class Network(nn.Module):
    """Inputs -> logits of every head."""

    def __init__(self, encoder: nn.Module, heads: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.encoder, self.heads = encoder, nn.ModuleDict(heads)

    def forward(self, *inputs: Tensor) -> dict[str, Tensor]:
        """What `Inputs.batch` gives -> {head: logits (B, L)}."""
        hidden = self.encoder(*inputs)
        logits = {name: head(hidden) for name, head in self.heads.items()}
        windows = getattr(hidden, "windows", None)
        return logits if windows is None else {name: over_windows(found, windows) for name, found in logits.items()}

    def hidden(self, *inputs: Tensor) -> Tensor:
        """The texts' vectors (B, D), for a head that takes its labels in chunks."""
        pooled: Tensor = self.encoder(*inputs).pooled
        return pooled

    def of_labels(self, *inputs: Tensor) -> dict[str, Tensor]:
        """The same with the logits of labels alone, above a threshold class where a head has one."""
        return {name: self.heads[name].of_labels(logits) for name, logits in self(*inputs).items()}  # type: ignore[operator]
