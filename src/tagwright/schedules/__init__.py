"""Schedules: the factor on the learning rate at a step."""

from tagwright.parts import Kind

KIND = Kind(
    title="schedule",
    facts={
        "step_count": "how many steps the training has",
        "width": "the width of the encoder's answer",
    },
)
