"""The administration of the spaces of a database."""
