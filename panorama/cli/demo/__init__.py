"""The demo: a workspace, its steps, and what it checks."""
