"""Schedules, and the work that is due."""
