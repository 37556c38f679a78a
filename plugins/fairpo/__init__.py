"""FairPO's candidates and pairs: summaries of thinned sets, and of three of them the fairest against the unfairest."""
