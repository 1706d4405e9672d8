"""Times, time zones and recurrence rules."""
