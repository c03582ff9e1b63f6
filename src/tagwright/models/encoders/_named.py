"""`pretrained` under the name of one source, so that `--encoder minilm` is all it takes."""

from collections.abc import Mapping
from functools import partialmethod
from typing import Any

from tagwright.data.dataset import Size
from tagwright.models.encoders.pretrained import Pretrained


def named(source: str) -> type[Pretrained]:
    """The encoder with `path` set to the source."""

    class Named(Pretrained):
        __doc__ = Pretrained.__doc__
        __init__ = partialmethod(Pretrained.__init__, path=source)

        @staticmethod
        def defaults(
            task: str, objective: str | None, options: Mapping[str, Any], size: Size | None
        ) -> Mapping[str, Any]:
            return Pretrained.defaults(task, objective, {"path": source, **options}, size)

        @staticmethod
        def learn(tokens: Any, tokenizer: Any, *, path: str = source, **others: Any) -> Any:
            return Pretrained.learn(tokens, tokenizer, path=path)

    return Named
