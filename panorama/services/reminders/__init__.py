"""Reminders and the alerts that they raise."""
