"""A trained model: in memory, in its folder, and at work on texts."""
