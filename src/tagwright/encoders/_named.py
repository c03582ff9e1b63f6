"""`pretrained` under the name of one source, so that `--encoder minilm` is all it takes."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tagwright.encoders.pretrained import Pretrained
from tagwright.read.data import Size


def named(source: str) -> Callable[..., Pretrained]:
    """The encoder with `path` set to the source, and with all that `pretrained` tells the program beside."""

    def defaults(task: str, objective: str | None, options: Mapping[str, Any], size: Size | None) -> Mapping[str, Any]:
        return Pretrained.defaults(task, objective, {"path": source, **options}, size)

    made = partial(Pretrained, path=source)
    learn = partial(Pretrained.learn, path=source)
    vars(made).update(defaults=defaults, learn=learn, inputs=Pretrained.inputs, embed=Pretrained.embed)
    vars(made)["reads_slots"] = Pretrained.reads_slots
    return made
