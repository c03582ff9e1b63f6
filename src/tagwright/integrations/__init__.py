"""Tagwright inside other libraries: scikit-learn's estimators, Hugging Face `Trainer`."""
