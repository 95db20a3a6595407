import base64
import os
import ssl
import uuid

from homeport_client import AuthenticatedClient
from homeport_client.api.sites import create_site, get_site, list_sites
from homeport_client.models import CreateSite, Error, Site, SitePage

pair = f"{os.environ['HOMEPORT_API_USERNAME']}:{os.environ['HOMEPORT_API_PASSWORD']}"
client = AuthenticatedClient(
    base_url=os.environ["HOMEPORT_API_URL"],
    token=base64.b64encode(pair.encode()).decode(),
    prefix="Basic",
    verify_ssl=ssl.create_default_context(),
)

account = uuid.UUID(os.environ["ACCOUNT_ID"])
site = create_site.sync(client=client, body=CreateSite(name="openapi-python-client", account_id=account))
assert isinstance(site, Site) and site.name == "openapi-python-client", site
page = list_sites.sync(client=client, limit=100)
assert isinstance(page, SitePage) and any(one.id == site.id for one in page.results), page
absent = get_site.sync(client=client, site_id=uuid.uuid4())
assert isinstance(absent, Error) and absent.message == "Resource not found", absent
