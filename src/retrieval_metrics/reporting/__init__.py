"""Tables, figures and reports of results."""
