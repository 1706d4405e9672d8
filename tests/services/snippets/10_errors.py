# expect: {"missing": "NotFoundError", "bad": "InvalidInputError", "twice": true}
from sdk import NotFoundError, InvalidInputError, ConflictError, SdkError

result = {}
try:
    sdk.tasks.get("t_doesnotexist")
except NotFoundError as e:
    result["missing"] = type(e).__name__

try:
    sdk.tasks.create("x", deadline="the 45th of Maytember")
except InvalidInputError as e:
    result["bad"] = e.__class__.__name__

sdk.projects.create("Unique")
try:
    sdk.projects.create("Unique")
except SdkError as e:
    result["twice"] = isinstance(e, (ConflictError, InvalidInputError))
else:
    result["twice"] = False
return result
