"""What the registry says: existence, records and the lock file."""
