# expect: ["2030-01-02 Visa", "2030-01-05 Flight", "2030-02-01 Hotel"]
import heapq

trip = sdk.projects.create("Trip", description="Two weeks")
for title, day in [("Hotel", "2030-02-01"), ("Visa", "2030-01-02"), ("Rail pass", "2030-03-03"), ("Flight", "2030-01-05"), ("Pack", None)]:
    sdk.tasks.create(title, project=trip.id, deadline=day)

dated = (t for t in sdk.tasks.list(project=trip.id) if t.deadline)
return [f"{t.deadline} {t.title}" for t in heapq.nsmallest(3, dated, key=lambda t: t.deadline)]
