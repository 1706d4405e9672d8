"""How daemons share a space: locks that say who is there and who has which duty."""
