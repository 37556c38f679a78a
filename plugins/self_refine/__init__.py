"""Self-refine: a method that criticises its own draft and writes it again."""
