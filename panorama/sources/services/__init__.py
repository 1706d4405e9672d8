"""Hand-written sources of web services: one module each."""
