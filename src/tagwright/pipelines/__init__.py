"""The wiring: the one place that knows every stage, a file a piece of work; the commands call
it.
"""
