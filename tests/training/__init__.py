"""The maker of the shipped models; it needs the dependency group `making`, and the product does not need it."""
