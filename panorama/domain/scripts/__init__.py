"""Scripts as values: SDK use, parameter types, outcome."""
