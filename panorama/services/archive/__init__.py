"""Backup, export, restore and purge."""
