"""The tools that come with CashCode, one module per family."""
