"""The daemon's side of a run: starting workers, serving their calls, ending them."""
