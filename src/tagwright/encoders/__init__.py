"""Tokens to hidden vectors: one file, one encoder."""
