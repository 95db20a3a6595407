import createClient from 'openapi-fetch';
import type { paths as HostingPaths } from './hosting-api';
import type { paths as PortalPaths } from './portal-api';

/** Below what address everything lies: the server writes it into the page. */
const base = document.baseURI;

/** The hosting API itself, as any client sees it; the browser's session stands in for Basic. */
export const hosting = createClient<HostingPaths>({ baseUrl: new URL('v1', base).href });

/** What the portal asks besides. */
export const portal = createClient<PortalPaths>({ baseUrl: new URL('.', base).href.replace(/\/$/, '') });

/** What a success of an operation carries. */
export type BodyOf<Operation> = Operation extends {
  responses: { 200: { content: { 'application/json': infer Json } } };
}
  ? Json
  : never;

export type { HostingPaths, PortalPaths };
