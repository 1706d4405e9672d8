"""The socket, its framing and the RPC client; standard library only."""
