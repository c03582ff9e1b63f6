"""Texts to tensors: token arrays, length buckets, padding."""
