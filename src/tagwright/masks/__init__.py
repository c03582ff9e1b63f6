"""Masks: which label terms take part."""

from tagwright.parts import Kind

KIND = Kind(title="mask", facts={"label_names": "the names of the labels"})
