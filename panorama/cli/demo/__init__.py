"""The demo: a workspace, its steps, and their checks."""
