"""The HTTP server: limits of connections, worker processes, signals."""
