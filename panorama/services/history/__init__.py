"""History and undo."""
