"""Calls as jobs: long ones in the background, in the thread of the caller, or under a lasting call of a client."""
