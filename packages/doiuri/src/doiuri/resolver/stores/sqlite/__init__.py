"""The store in an SQLite file: its connection and format, and how to read and copy it."""
