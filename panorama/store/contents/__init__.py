"""The contents of files: where they are stored, how they are read, copied and compared."""
