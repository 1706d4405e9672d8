"""What a script may reach: attributes, classes, modules and texts, with the hint for what it may not."""
