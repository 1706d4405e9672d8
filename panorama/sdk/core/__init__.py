"""What the modules of the SDK share: rows and their types, the wire, argument checks, and functions of no noun."""
