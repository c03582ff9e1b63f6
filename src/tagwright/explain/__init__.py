"""What a trained model does with its labels, and how that compares with the data."""
