"""Targets: what the truth is, and how soft."""

from typing import TypeAlias

from scipy.sparse import csr_array

from tagwright.arrays import Floats
from tagwright.registry import Kind

SoftLabels: TypeAlias = Floats | csr_array  # (n, L)

KIND = Kind(
    title="target",
    facts={
        "table": (
            "the texts of train with their labels, an Arrow table with `labels`, and `values` of"
            " soft labels"
        ),
        "space": "the label space",
        "tokens": "the words of the texts, as ids; 0 stands for no word",
        "teacher": "a function from a model folder to its scores of the texts",
    },
)
