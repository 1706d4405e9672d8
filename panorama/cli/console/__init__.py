"""Output, questions and error messages of the terminal."""
