"""Stores: in memory, SQLite, Redis."""
