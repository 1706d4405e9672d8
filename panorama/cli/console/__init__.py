"""Terminal output, questions and error messages."""
