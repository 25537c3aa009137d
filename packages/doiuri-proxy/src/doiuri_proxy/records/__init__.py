"""Where the proxy's records come from: files, stores, an upstream proxy."""
