"""The calendar: events, and the sessions of their days."""
