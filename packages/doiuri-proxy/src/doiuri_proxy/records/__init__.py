"""The proxy's records: read from files, stores or an upstream proxy."""
