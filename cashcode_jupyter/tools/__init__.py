"""What the model can call: one interface (`base.Toolset`), tools that implement it, wrappers that compose."""
