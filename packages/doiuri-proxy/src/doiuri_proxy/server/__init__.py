"""How the application is served: HTTP/1.1 limits, worker processes, signals."""
