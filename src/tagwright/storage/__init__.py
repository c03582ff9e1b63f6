"""Files and folders that are whole or not there, locked, verified; plain values as JSON and
TOML.
"""
