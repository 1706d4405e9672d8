"""What the sources of web services share: the HTTP client, paging, endpoints as functions."""
