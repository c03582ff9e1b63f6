"""Weights: what a rare label weighs."""
