"""The functions of sources, and the rules for calling them. Pure."""
