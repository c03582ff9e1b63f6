"""Results that are computed one by one, so that one that fails does not lose the others."""

from collections.abc import Callable
from typing import TypeVar

from tagwright.errors import WriteError

Result = TypeVar("Result")


class Attempts:
    """Computes results, and keeps a sentence for each that failed."""

    def __init__(self, say: Callable[[str], None] = lambda text: None) -> None:
        self.say = say
        self.failed: list[str] = []

    def of(self, what: str, compute: Callable[[], Result], otherwise: Result) -> Result:
        """The result; if it cannot be computed, says so with the error and returns `otherwise`.

        A full disk is raised: the result is made once there is space again.
        """
        try:
            return compute()
        except WriteError:
            raise
        except Exception as error:  # whatever it is: hours of training stand behind the rest
            sentence = (
                f"{what} could not be made ({type(error).__name__}: {error}); the other results are"
                " complete"
            )
            self.failed.append(sentence)
            self.say(sentence)
            return otherwise
