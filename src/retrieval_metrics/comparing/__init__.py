"""Which of several systems is better, and how sure that is."""
