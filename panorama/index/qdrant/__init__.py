"""The index on a Qdrant server or cluster: a collection for each space, or one that many spaces share."""
