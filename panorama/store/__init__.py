"""The store: SQLAlchemy lives here alone, one module per noun."""
