"""Files and folders that are whole or not there, locked, checked; values as JSON and TOML."""
