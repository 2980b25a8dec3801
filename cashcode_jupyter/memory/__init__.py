"""What the agent knows from before: chats, long-term memory and the persona, as plain files."""
