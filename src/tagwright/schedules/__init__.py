"""Schedules: the factor on the learning rate at a step."""
