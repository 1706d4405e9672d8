"""The index of words, as far as it is the same for every kind of database."""
