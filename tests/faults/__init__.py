"""Faults: the product is killed, filled, locked and handed the wrong file; nothing that it answered is lost."""
