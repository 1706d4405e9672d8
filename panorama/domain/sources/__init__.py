"""What is known of the functions of sources, and the rules for calling them. Pure."""
