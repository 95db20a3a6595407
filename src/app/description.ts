import { withConventions, withEntityTags } from '../api/conventions.ts';
import { apiDocument, portalDocument } from '../api/description.ts';
import { readConfig } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { apiRoutes, portalRoutes } from './routes.ts';

/** Addresses of the servers in the descriptions. No program uses them. */
const SERVER = 'https://localhost:8443';

/** The OpenAPI document of the API, as every server has it at `/v1/swagger` with its own address. Needs no server. */
export function describedApi(): unknown {
  const platform = { config: readConfig({}), database: unused, clock: systemClock };
  return plain(apiDocument(SERVER, withConventions(apiRoutes(platform, unused))));
}

/** The OpenAPI document of the portal's own endpoints, as `/portal/api/description` has it. */
export function describedPortal(): unknown {
  return plain(portalDocument(SERVER, withEntityTags(portalRoutes(unused))));
}

/**
 * A placeholder for the services that handlers of routes use. The description needs only their declarations and calls no handler. Each
 * member of the placeholder is the placeholder.
 */
const unused = new Proxy(Object.create(null), { get: () => unused });

/** The document as JSON has it, without what routes note on their schemas. */
const plain = (document: object): unknown => JSON.parse(JSON.stringify(document));
