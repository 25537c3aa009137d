"""Stores for the resolver's answers: in memory, SQLite, Redis, a lock file."""
