"""Results as text, Markdown, HTML and plots."""
