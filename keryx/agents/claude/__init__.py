"""Claude Code, by claude-agent-sdk."""
