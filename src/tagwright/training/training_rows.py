"""The rows that a run learns from, with all that a teacher adds to them: soft labels, and labels
that are excused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add

from tagwright.batches.rows import HeadRows, Rows
from tagwright.masks.elements import ElementMask
from tagwright.models.network import Network
from tagwright.objective import Objective
from tagwright.settings.schema import Settings
from tagwright.training.element_mask import check_elements, excused_rows
from tagwright.training.head_objective import HeadObjective
from tagwright.training.memory import require_soft_memory
from tagwright.training.prepare import learns_unlabelled
from tagwright.training.prepared import UNLABELLED, Prepared
from tagwright.training.teacher import Teaching, check_teachers


def lessons(
    prepared: Prepared,
    teachings: Mapping[str, Teaching],
    names: Sequence[str],
    network: Network,
    objectives: Mapping[str, HeadObjective],
    settings: Settings,
) -> Rows:
    """The rows of some tables, and of texts without labels where these are learnt from; a teacher
    is asked only where the targets or the mask want one."""
    names = [*names, *_unlabelled(prepared, settings)]
    rows = reduce(add, (prepared.rows(name, network, settings) for name in names))
    heads = {
        name: _taught(teachings[name], names, own, objectives[name].objective)
        for name, own in rows.heads.items()
    }
    return replace(rows, heads=heads)


def _taught(
    teaching: Teaching, names: Sequence[str], rows: HeadRows, objective: Objective
) -> HeadRows:
    """The rows of one head with its soft labels, and with those that its words excuse."""
    scores, mask = partial(teaching.scores, names), objective.mask_of
    soft = teaching.prepared.soft_labels(names, teaching.settings, teacher=scores)
    rows = replace(rows, soft=soft)
    if not isinstance(mask, ElementMask):
        return rows
    return replace(rows, excused=excused_rows(teaching, names, mask, rows.target))


def check_lessons(prepared: Prepared, settings: Settings, objective: Objective) -> None:
    """Refuse what the settings name and nobody could learn from, before anything is trained."""
    if settings.targets.options.get("model") or settings.mask.options.get("model"):
        check_teachers(settings, prepared.space, prepared.first)
    if isinstance(objective.mask_of, ElementMask):
        check_elements(prepared, objective.mask_of)
    if settings.targets.name != "hard":
        names = [
            "train",
            *_unlabelled(prepared, settings),
            *(["dev"] if settings.fit.refit else []),
        ]
        require_soft_memory(
            sum(prepared.tables[name].num_rows for name in names), len(prepared.space)
        )


def _unlabelled(prepared: Prepared, settings: Settings) -> list[str]:
    """The table of texts without labels, where there is one and these settings learn from it: its
    teacher's do not.
    """
    return [UNLABELLED] if UNLABELLED in prepared.tables and learns_unlabelled(settings) else []
