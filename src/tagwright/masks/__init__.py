"""Masks: which label terms take part."""
