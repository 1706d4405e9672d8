"""Embedders: texts to vectors. A model's library is imported when the model is loaded, not before."""
