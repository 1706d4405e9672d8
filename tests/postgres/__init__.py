"""What the product promises on PostgreSQL."""
