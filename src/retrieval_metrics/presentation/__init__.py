"""Results as text, Markdown and HTML."""
