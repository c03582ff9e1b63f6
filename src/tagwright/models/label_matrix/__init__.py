"""A linear layer and its loss in chunks of labels, for labels so many that their logits would not
fit.
"""
