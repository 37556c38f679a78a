"""Chain of thought: a method whose summary comes of key points, a critique and a revision, each a call of its own."""
