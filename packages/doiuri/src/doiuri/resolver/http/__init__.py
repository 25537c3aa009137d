"""HTTP for the resolver: connections, requests within bounds, the rate limit, retries."""
