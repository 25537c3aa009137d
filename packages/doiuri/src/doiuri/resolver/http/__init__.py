"""HTTP for the resolver: requests and connections, pacing, retries."""
