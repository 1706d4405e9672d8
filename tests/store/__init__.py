"""The store: transactions, full text, migrations."""
