"""Files that survive: atomic replace, the append-only ledger, leases between processes."""
