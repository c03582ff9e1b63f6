"""Training: prepared data to a trained network, step by step, resumable."""
