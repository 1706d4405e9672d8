"""What whoever administers a database does with its spaces: list, create, migrate, grant and drop them."""
