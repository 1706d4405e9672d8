"""Charts: where bars, curves and cells are drawn, for the web page, and as SVG and PNG pictures with words beside."""
