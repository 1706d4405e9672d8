"""Reminders and their alerts."""
