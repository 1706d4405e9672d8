"""What the web page must refuse in a real browser."""
