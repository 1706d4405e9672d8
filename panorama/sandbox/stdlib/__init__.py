"""The built-in names and modules that scripts get."""
