"""The restricted Python of scripts: which syntax and attributes are allowed."""
