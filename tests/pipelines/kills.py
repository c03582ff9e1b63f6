"""Ends of a process, as a test can bear them, and whether two models are the same to the bit."""

import torch


class Killed(Exception):
    """The end of a process."""


class Watching:
    """Progress that counts the steps of each phase, and ends the run after some: (phase, step)
    each, in turn.
    """

    def __init__(self, *kills):
        self.steps, self.kills = {}, list(kills)

    def __call__(self, stream, title, start, total):
        for step in stream:
            self.steps[title] = self.steps.get(title, 0) + 1
            yield step
            if self.kills and (title, step.number) == self.kills[0]:
                self.kills.pop(0)
                raise Killed


def same_bits(first, second):
    """Whether all weights are the same."""
    return all(torch.equal(a, b) for a, b in zip(first.values(), second.values(), strict=True))
