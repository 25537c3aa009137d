"""HTTP for the resolver: requests and connections, rate limit, retries."""
