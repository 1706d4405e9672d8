"""Shared by the modules of the SDK: rows and their types, the wire, argument checks, and functions of no noun."""
