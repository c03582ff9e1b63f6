"""Settings: their sections, defaults and presets, and the one rule of who wins."""
