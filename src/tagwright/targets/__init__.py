"""Targets: what the truth is, and how soft."""

from tagwright.registry import Kind

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
