"""What can be read and changed by a request: a function for each method of an address, the same for all doors."""
