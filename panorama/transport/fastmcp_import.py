"""The lock for the import of FastMCP."""

from threading import Lock

FASTMCP_IMPORT = Lock()
"""Held while FastMCP, or a module that imports it, may be imported in a thread.

Its modules and those of the SDK import each other in circles. Two threads that enter at different ends, such as its
server and its client, get modules that are not complete, and both imports fail.
"""
