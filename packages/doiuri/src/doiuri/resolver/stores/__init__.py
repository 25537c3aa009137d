"""Stores: in memory, SQLite, Redis, a lock file."""
