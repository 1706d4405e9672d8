"""The library of saved scripts: files, versions, reviews and runs."""
