"""Data: CSL-JSON items, their dates and their people."""
