"""Scripts: running them, their runs, and the library of reviewed scripts."""
