"""Search in the reference of the SDK, the recipes and the saved scripts."""
