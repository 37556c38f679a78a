"""What evenhand ships beyond its core: each folder a plug-in, which the core never imports."""
