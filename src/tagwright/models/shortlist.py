"""Which models score by shortlists: those with very many labels and a head in chunks."""

from tagwright.settings.schema import Choice

FULL = 16384  # labels: up to so many, all logits are kept


def left_out(head: Choice, label_count: int) -> tuple[str, ...]:
    """What a person must know of a model that scores by shortlists, as sentences; none of
    another.
    """
    if not shortlisted(head, label_count):
        return ()
    kept = head.options["shortlist"]
    return (
        (
            f"{label_count:,} labels: each text is scored by its {kept} highest; metrics that need"
            " all scores (lrap, ranking loss, coverage, average precision, calibration) are"
            " left out"
        ),
    )


def shortlisted(head: Choice, label_count: int) -> bool:
    """Whether a model with such a head scores by shortlists."""
    return bool(head.options.get("chunk", 0)) and label_count > FULL
