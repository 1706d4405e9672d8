"""Laws: what holds for any input, tried by Hypothesis."""
