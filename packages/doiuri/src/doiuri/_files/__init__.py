"""Files: how they are replaced as a whole, and a lock on their folder."""
