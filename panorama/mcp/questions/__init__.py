"""Questions to the user: before a call runs, and while a script waits."""
