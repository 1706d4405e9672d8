"""Parts of the catalogue: the operations of one capability each."""
