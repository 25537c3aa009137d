"""The store on a Redis server: its connection and format, and the lock on it."""
