"""The proxy's HTTP interface: redirects, pages, the REST API and Which RA."""
