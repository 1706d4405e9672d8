"""The commands on search models: list, compare and choose."""
