"""`panorama sources`: the user adds, checks and removes connections to other systems."""
