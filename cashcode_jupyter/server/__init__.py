"""The door in the Jupyter server: an extension with REST routes, sockets, and a listener for the seed's clients."""
