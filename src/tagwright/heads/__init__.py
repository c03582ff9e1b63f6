"""Heads: hidden vectors in, logits out."""
