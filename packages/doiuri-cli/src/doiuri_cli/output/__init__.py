"""The output formats, one a file."""
