import createClient, { type Middleware } from 'openapi-fetch';
import type { paths as HostingPaths } from '../../packages/client/src/api-types.ts';
import { earlyOrFetched } from './early-requests.ts';
import type { paths as PortalPaths } from './portal-types.ts';
import { watchPresence } from './presence.ts';

/** Base URL of the portal, which the server writes into the page. */
const base = document.baseURI;

/** The public hosting API, authenticated by the browser's session instead of Basic credentials. */
export const hosting = createClient<HostingPaths>({ baseUrl: new URL('v1', base).href });

/** The portal's own API. */
export const portal = createClient<PortalPaths>({
  baseUrl: new URL('.', base).href.replace(/\/$/, ''),
  fetch: earlyOrFetched,
});

const isPresent = watchPresence(document, () => Date.now());

/** Marks requests that the page sends while the user is away, so that they do not extend the session. */
const markUnattended: Middleware = {
  onRequest({ request }) {
    if (!isPresent()) request.headers.set('X-Homeport-Unattended', 'true');
  },
};
hosting.use(markUnattended);
portal.use(markUnattended);

/** Response body of an operation's 200. */
export type BodyOf<Operation> = Operation extends {
  responses: { 200: { content: { 'application/json': infer Json } } };
}
  ? Json
  : never;

export type { HostingPaths, PortalPaths };
