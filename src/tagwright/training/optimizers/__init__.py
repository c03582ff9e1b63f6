"""Optimizers: what moves the weights, and the solver that takes their place."""
