"""Shared by the sources of web services: the HTTP client, paging, endpoints as functions."""
