"""Fitting: a generator of steps, and pipes around it."""
