"""The rendering elements of a style (CSL 1.0.2, Rendering Elements)."""
