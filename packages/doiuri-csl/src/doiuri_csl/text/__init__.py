"""Text: what rendering yields, from pieces to runs."""
