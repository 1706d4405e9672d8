"""The web page of the user's machine: pages rendered by the server, an endpoint for writes, and a stream of changes."""
