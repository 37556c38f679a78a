"""evenhand: a training toolkit for fair summarizers. This file imports nothing."""
