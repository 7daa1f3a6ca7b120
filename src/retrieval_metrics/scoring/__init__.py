"""From a judged run, a metric and rules to numbers: the only way there is."""
