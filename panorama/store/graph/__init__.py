"""The graph: the edges between items, kept up to date with every write, and walks over them."""
