"""What several families of pages share: systems and their numbers, compared, and chosen among."""
