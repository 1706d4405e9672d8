"""The web page: its views, forms and texts, over the real product."""
