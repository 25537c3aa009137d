"""The citations and the list of references of one document."""
