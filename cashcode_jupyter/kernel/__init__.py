"""The door in the kernel: the magics and `ask`, over the notebook's Jupyter server or an agent in here."""
