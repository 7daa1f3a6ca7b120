"""Why a query scored what it did."""
