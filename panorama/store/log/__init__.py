"""Rows of Panorama's own records: changes, calls, runs, jobs, schedules."""
