"""What data, models and runs say of labels: audits, and the facts that reports are made of."""
