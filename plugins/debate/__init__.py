"""Multi-agent debate: a method whose drafts answer one another."""
