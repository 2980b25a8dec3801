"""The agent: who may run when (orchestrator), what a turn does (turn), and who hears of it (bus)."""
