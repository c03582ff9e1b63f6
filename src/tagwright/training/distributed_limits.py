"""What several processes can train together, and what they cannot."""

import torch

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.models.device import device_of
from tagwright.models.distributed import Ranks
from tagwright.models.network import Network
from tagwright.settings.schema import Settings
from tagwright.training._gradients import start_of


def check_ranks(settings: Settings, ranks: Ranks) -> None:
    """Refuse settings that only one process can train with."""
    losses = [head.settings.loss.name for head in settings.heads.values()] or [settings.loss.name]
    batchwise = [name for name in losses if registry.find(registry.LOSSES, name).factory.batchwise]
    if batchwise:
        raise SettingsError(
            f"{batchwise[0]} looks at a whole batch, and each of {ranks.world} processes sees a"
            " share of it; train in one process, or take a loss of single texts such as bce, zlpr"
            " or dice"
        )
    if registry.find(registry.ENCODERS, settings.encoder.name).factory.sparse:
        raise SettingsError(
            f"{settings.encoder.name}'s gradients are sparse rows, which {ranks.world} processes do"
            " not add up; train it in one process, or take cnn, lstm or a pretrained encoder"
        )
    _check_device(settings, ranks)


def _check_device(settings: Settings, ranks: Ranks) -> None:
    kind, asked = device_of(settings).type, settings.fit.device
    if kind not in ("cpu", "cuda"):
        raise SettingsError(f"several processes train on cpu or cuda, not on {kind}; set --device")
    if kind == "cuda" and ":" in asked:
        raise SettingsError(
            f"each process takes a GPU of its own, so --device {asked} cannot be; take cuda"
        )
    if kind == "cuda" and ranks.local >= torch.cuda.device_count():
        raise SettingsError(
            f"process {ranks.local} of this machine finds no GPU of its own: there are"
            f" {torch.cuda.device_count()}; start as many processes as GPUs (--nproc_per_node), or"
            " set --device cpu"
        )


def require_one_start(network: Network, step: int, fingerprint: str, ranks: Ranks) -> None:
    """Processes that begin alike stay alike, for all take the same steps."""
    ranks.require_same([int(fingerprint[:15], 16)], "their data or settings")
    tensors = list(network.state_dict().values())
    ranks.require_same([step, *start_of(tensors)], "the weights they start from (is --out shared?)")
