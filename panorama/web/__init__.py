"""The web page of the user's machine: pages written by the server, a door for writes, and a stream of changes."""
