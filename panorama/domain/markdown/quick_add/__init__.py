"""Quick add: one line of words as the fields of a new task, in English and German."""
