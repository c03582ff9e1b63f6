"""What cannot be trained is refused, before anything is written."""

from collections.abc import Iterator
from contextlib import contextmanager

from tagwright import registry
from tagwright.errors import SettingsError
from tagwright.inference.fit_decision import rule_of
from tagwright.masks import Mask
from tagwright.models.build import check_head
from tagwright.models.shortlist import left_out
from tagwright.objective import build_objective
from tagwright.settings.schema import Settings
from tagwright.storage import toml
from tagwright.training.dev_split import Watched
from tagwright.training.exact_solver import check_exact
from tagwright.training.learner import check_regularizers
from tagwright.training.mlm_head import check_mlm
from tagwright.training.needed_memory import require_memory
from tagwright.training.prepared import Prepared
from tagwright.training.training_rows import check_lessons


def check(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """Refuse what cannot be trained, before anything is written; what a person should know of the
    rest comes back.
    """
    several = len(prepared.heads) > 1
    said: list[str] = []
    for name in prepared.heads:
        with _about_head(name, several=several):
            _check_kind(settings.of(name), tagged=prepared.heads[name].tags_tokens)
    if settings.fit.optimizer == "exact":
        check_exact(prepared, settings)
    _check_clip(settings)
    _check_size(settings)
    for name in prepared.heads:
        with _about_head(name, several=several):
            said += _check_head(prepared.alone(name), settings.of(name))
    prepared.widened(settings)
    if several:
        _check_together(prepared, settings)
    Watched(prepared, settings)
    if settings.regularize:
        check_regularizers(settings, [settings.of(name) for name in prepared.heads])
        said += check_mlm(prepared, settings)
    require_memory(prepared, settings)
    return (*said,)


def score_of(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """A sentence on what the best model is chosen by; none where there is one solution."""
    if settings.fit.optimizer == "exact":
        return ()
    return (f"score: {Watched(prepared, settings)} on dev",)


def _check_size(settings: Settings) -> None:
    """Refuse settings that a model folder could not hold: the trained model would not load."""
    try:
        toml.loads(settings.to_toml())
        toml.loads(toml.dumps(toml.without_none(settings.given)))
    except ValueError as error:
        raise SettingsError(
            f"these settings could not be read back from the model folder: as TOML, {error}; name"
            " fewer labels in split.keep, or train fewer heads"
        ) from None


def _check_kind(own: Settings, *, tagged: bool) -> None:
    """Refuse a head for tokens where texts are labelled, and one for texts where tokens are
    tagged.
    """
    if tagged != (own.head.name == "tokens"):
        wanted = (
            "tokens, for these are tagged"
            if tagged
            else "document, cloze or chain, for whole texts are labelled"
        )
        raise SettingsError(f"head.name is {own.head.name}; take {wanted}")


def _check_head(prepared: Prepared, own: Settings) -> tuple[str, ...]:
    """Refuse what one head by itself cannot learn."""
    if own.head.name == "chain" and own.fit.optimizer != "exact":
        raise SettingsError(
            "a chain is solved, not trained by steps; take --objective classifier-chain, or set"
            " fit.optimizer=exact"
        )
    objective = build_objective(
        own, prepared.space, row_count=prepared.heads[prepared.first].examples
    )
    check_head(own, prepared.space)
    rule_of(own.decide, exclusive=prepared.space.exclusive, tagged=prepared.tagged)
    check_lessons(prepared, own, objective)
    mask = objective.mask_of.said if isinstance(objective.mask_of, Mask) else ()
    return (*mask, *left_out(own.head, len(prepared.space.names)))


@contextmanager
def _about_head(name: str, *, several: bool) -> Iterator[None]:
    """Errors inside say which of several heads they are about."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"[heads.{name}] {error}" if several else str(error)) from None


def _check_together(prepared: Prepared, settings: Settings) -> None:
    """Refuse heads that cannot stand beside each other."""
    slotted = [
        name
        for name in prepared.heads
        if registry.find(registry.HEADS, settings.of(name).head.name).factory.has_slots
    ]
    if len(slotted) > 1:
        raise SettingsError(
            f"heads {' and '.join(slotted)} put slots before a text, and only one can; take"
            " document"
        )
    tagging = [name for name, head in prepared.heads.items() if head.tags_tokens]
    if len({settings.of(name).head.options.get("overlap") for name in tagging}) > 1:
        raise SettingsError(
            f"heads {' and '.join(tagging)} read the same windows; give them one head.overlap"
        )
    if slotted and prepared.sheets:
        raise SettingsError(
            "head cloze puts slots before a text, and tags of its tokens are read without them; for"
            " both take head document"
        )


def _check_clip(settings: Settings) -> None:
    """Refuse to clip gradients that are sparse, such as those of bow."""
    if (
        registry.find(registry.ENCODERS, settings.encoder.name).factory.sparse
        and settings.fit.clip > 0
    ):
        raise SettingsError(
            f"{settings.encoder.name} has sparse gradients, which cannot be clipped; leave fit.clip"
            " out or set it to 0"
        )
