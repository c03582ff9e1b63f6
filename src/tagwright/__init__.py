"""Tagwright."""
