import createClient, { type Middleware } from 'openapi-fetch';
import type { paths as HostingPaths } from './hosting-api';
import type { paths as PortalPaths } from './portal-api';
import { watchPresence } from './presence.ts';

/** Below what address everything lies: the server writes it into the page. */
const base = document.baseURI;

/** The hosting API itself, as any client sees it; the browser's session stands in for Basic. */
export const hosting = createClient<HostingPaths>({ baseUrl: new URL('v1', base).href });

/** What the portal asks besides. */
export const portal = createClient<PortalPaths>({ baseUrl: new URL('.', base).href.replace(/\/$/, '') });

const attended = watchPresence(document, () => Date.now());

/** What the page asks by itself is no use of the session: one that stands alone somewhere ends in time. */
const tellAttention: Middleware = {
  onRequest({ request }) {
    if (!attended()) request.headers.set('X-Homeport-Unattended', 'true');
  },
};
hosting.use(tellAttention);
portal.use(tellAttention);

/** What a success of an operation carries. */
export type BodyOf<Operation> = Operation extends {
  responses: { 200: { content: { 'application/json': infer Json } } };
}
  ? Json
  : never;

export type { HostingPaths, PortalPaths };
