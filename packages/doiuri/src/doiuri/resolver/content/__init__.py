"""Content negotiation: works, BibTeX and formatted references of DOIs."""
