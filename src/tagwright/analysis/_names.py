"""Names of labels that a person should doubt: the same but for case or spaces, or a word for a
missing value.
"""

from collections.abc import Iterator, Sequence

MISSING = {"na", "n/a", "nan", "null", "none", "nil", "<na>"}
SHOWN = 10


def name_warnings(names: Sequence[str], *, heads: bool = False) -> Iterator[str]:
    """A sentence for each set of names that differ only in case or spaces, and one for those that
    say "missing".

    With `heads` a name is "HEAD=label".

    >>> list(name_warnings(["Account", "account ", "NA"]))[0]
    "Labels 'Account' and 'account ' differ only in case or spaces: are they one label?"
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    twins = [" and ".join(map(repr, sorted(group))) for group in alike.values() if len(group) > 1]
    for group in twins[:SHOWN]:
        yield f"Labels {group} differ only in case or spaces: are they one label?"
    if len(twins) > SHOWN:
        yield f"{len(twins) - SHOWN} more sets of labels differ only in case or spaces."
    bare = {name: name.partition("=")[2] if heads else name for name in names}
    empty = [repr(name) for name, label in bare.items() if label.strip().casefold() in MISSING]
    if empty:
        one = len(empty) == 1
        looks = (
            "looks like a missing value; is it one" if one else "look like missing values; are they"
        )
        yield f"{'Label' if one else 'Labels'} {', '.join(empty)} {looks}?"
