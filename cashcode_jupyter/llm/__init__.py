"""The model layer: settings, clients, streams, errors, and the local starter model."""
