"""Rows about Panorama's own work: changes, calls, runs, jobs, schedules."""
