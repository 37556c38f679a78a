"""Published: what papers report beside the measures of an audit, and how low and high those of coverage can be."""
