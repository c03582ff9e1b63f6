"""Weights: what a rare label weighs."""

from tagwright.parts import Kind

KIND = Kind(
    title="weight",
    facts={
        "label_counts": "how many texts of train have each label, (L,)",
        "row_count": "how many texts train has; tokens, where these are tagged",
    },
)
