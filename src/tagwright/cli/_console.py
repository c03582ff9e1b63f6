"""What a terminal is sent of strings from data, files and settings: their characters, and no
command to it.
"""

import os
import re
from typing import IO, Literal, TypedDict, Unpack

from rich.console import Console, HighlighterType, JustifyMethod, OverflowMethod
from rich.style import Style
from rich.text import Text

LONGEST = 4_000  # characters of one message or one cell of a table
# what a shell reports of a program that SIGPIPE ended, such as `cat` before `head`
NOBODY_READS = 141

# control characters but tab and line feed, line separators, the characters that turn the direction,
# lone surrogates
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class ConsoleOptions(TypedDict, total=False):
    """What a console writes to, and what is known of it; as rich has them."""

    file: IO[str]
    stderr: bool
    width: int
    force_terminal: bool
    no_color: bool
    color_system: Literal["auto", "standard", "256", "truecolor", "windows"] | None


class PlainConsole(Console):
    """Shows every string as it is: no markup, no emoji codes, control characters as escapes, a
    bounded length.
    """

    def __init__(self, **options: Unpack[ConsoleOptions]) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(
        self,
        text: str,
        *,
        style: str | Style = "",
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        emoji: bool | None = None,
        markup: bool | None = None,
        highlight: bool | None = None,
        highlighter: HighlighterType | None = None,
    ) -> Text:
        """A string, or a cell or title of a table, as rich prints it; `Text` from elsewhere does
        not come by here.
        """
        return super().render_str(
            visible(shortened(text)),
            style=style,
            justify=justify,
            overflow=overflow,
            emoji=emoji,
            markup=markup,
            highlight=highlight,
            highlighter=highlighter,
        )

    def on_broken_pipe(self) -> None:
        """Nobody reads any more. A result ends the command; the work goes on without its
        messages.
        """
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
        if not self.stderr:
            raise SystemExit(NOBODY_READS)

    def write(self, text: str) -> None:
        """Text as it is, for programs: JSON, Markdown."""
        try:
            self.file.write(text)
            self.file.flush()
        except BrokenPipeError:
            self.on_broken_pipe()


def visible(text: str) -> str:
    r"""Text whose control characters are shown and not obeyed.

    >>> print(visible("\x1b[2J\u202egnp.exe"))
    \x1b[2J\u202egnp.exe
    """
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def visible_json(text: str) -> str:
    r"""The same JSON, with its control characters as JSON escapes.

    >>> print(visible_json('"\x9b2J"'))
    "\u009b2J"
    """
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shortened(text: str, most: int = LONGEST) -> str:
    """Text without its middle where it is very long: a message begins with what is wrong and ends
    with what to do.

    >>> shortened("wrong: " + 90 * "x" + "; do this", 20)
    'wrong: xxx … 86 characters left out … x; do this'
    """
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … {len(text) - 2 * half:,} characters left out … {text[-half:]}"
