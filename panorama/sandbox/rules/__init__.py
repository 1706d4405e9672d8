"""The rules for what a script may use: attributes, classes, modules and formats, with hints for the rest."""
