"""The SQLite backend: connections, full text, vocabulary, copies and errors."""
