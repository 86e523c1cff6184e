import sys

from warden import Client
from warden.api.fleet import get_fleet
from warden.models import Mailbox

fleet = get_fleet.sync(client=Client(base_url=sys.argv[1]), limit=1)
assert isinstance(fleet.mailboxes[0], Mailbox)
print(f"{fleet.total} mailboxes, {fleet.mailboxes[0].email}")
