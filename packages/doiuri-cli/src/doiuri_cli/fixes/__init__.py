"""Changes to files: proved before they are written."""
