"""Internal tools: validation, optional imports, lazy loading and append logs."""
