"""What the web page must refuse, asked over HTTP without a browser."""
