"""What a part of the campaign came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from campaign.command import Ran


@dataclass(kw_only=True)
class Tally:
    """Counts of one part; `faults` must stay empty."""

    name: str
    wanted: int  # how many are to be made
    made: int = 0
    notes: dict[str, int] = field(default_factory=dict)  # how often each outcome came
    faults: list[str] = field(default_factory=list)
    seconds: float = 0.0  # the longest of one command
    peak: int = 0  # bytes, the most of one command

    def note(self, outcome: str) -> None:
        """Count an outcome."""
        self.notes[outcome] = self.notes.get(outcome, 0) + 1

    def add(self, ran: Ran) -> Ran:
        """Take in a command that has ended: its time, its memory, and what no command may do."""
        self.seconds, self.peak = max(self.seconds, ran.seconds), max(self.peak, ran.peak)
        self.faults += ran.faults
        return ran

    def require(self, holds: bool, fault: str) -> None:
        """Count a fault unless the condition holds."""
        if not holds:
            self.faults.append(fault)

    def rounds(self) -> Iterator[int]:
        """The numbers of what is to be made, counted as they are made."""
        while self.made < self.wanted:
            yield self.made
            self.made += 1


def lines(tallies: Sequence[Tally]) -> Iterator[str]:
    """A table, then every fault."""
    yield "| part | made | longest | most memory | faults | outcomes |"
    yield "|---|---|---|---|---|---|"
    for one in tallies:
        outcomes = ", ".join(f"{count} {what}" for what, count in sorted(one.notes.items()))
        row = [
            one.name,
            f"{one.made:,}",
            f"{one.seconds:.1f} s",
            f"{one.peak / 1e6:,.0f} MB",
            str(len(one.faults)),
        ]
        yield f"| {' | '.join([*row, outcomes])} |"
    for one in tallies:
        yield from (f"{one.name}: {fault}" for fault in one.faults)
