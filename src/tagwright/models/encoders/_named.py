"""`pretrained` under the name of one source, so that `--encoder minilm` is all it takes."""

from collections.abc import Mapping
from functools import partialmethod

from tagwright.arrays import Numbers
from tagwright.data.dataset import Size
from tagwright.models.encoders.pretrained import Pretrained
from tagwright.tokenizers.pretrained import OwnPieces
from tagwright.tokenizers.tokens import Tokens


def named(source: str) -> type[Pretrained]:
    """The encoder with `path` set to the source."""

    class Named(Pretrained):
        __doc__ = Pretrained.__doc__
        __init__ = partialmethod(Pretrained.__init__, path=source)

        @staticmethod
        def defaults(
            task: str, objective: str | None, options: Mapping[str, object], size: Size | None
        ) -> Mapping[str, object]:
            return Pretrained.defaults(task, objective, {"path": source, **options}, size)

        @staticmethod
        def learn(
            tokens: Tokens, tokenizer: OwnPieces, *, path: str = source, **others: object
        ) -> dict[str, Numbers]:
            return Pretrained.learn(tokens, tokenizer, path=path)

    return Named
