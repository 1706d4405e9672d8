"""Who reports to whom, and what refers to a person."""
