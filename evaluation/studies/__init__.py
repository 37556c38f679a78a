"""Studies beside the main job: what judges are worth, what people say, and the bias study."""
