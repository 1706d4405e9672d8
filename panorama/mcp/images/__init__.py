"""Images beside answers: charts of the dashboard and the review, and images that scripts return."""
