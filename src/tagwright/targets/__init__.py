"""Targets: what the truth is, and how soft."""
