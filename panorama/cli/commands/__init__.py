"""The commands of `panorama`."""
