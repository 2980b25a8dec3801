"""The panel as a widget. Nothing here is imported before the first panel is shown."""
