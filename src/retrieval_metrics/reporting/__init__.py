"""The contents of tables, figures and reports."""
