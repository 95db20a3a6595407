declare global {
  interface Window {
    /** The requests that began before the portal's scripts had loaded, by their address, until the scripts take them. */
    homeportEarly?: Map<string, Promise<Response>>;
  }
}

/** Paths whose pages work without a session (app.tsx). */
const WITHOUT_SESSION = /^(invitations|password|forgotten-password)(\/|$)/;

/** What the pages with most visitors show first. The addresses are those that the pages request (api/*-list.ts, api/overview.ts). */
const FIRST_LISTS: readonly (readonly [page: RegExp, address: string])[] = [
  [/^accounts\/([\w-]+)\/home$/, 'attention?limit=10'],
  [/^accounts\/([\w-]+)\/sites$/, 'sites?sort=name&offset=0&limit=50'],
  [/^accounts\/([\w-]+)\/installs$/, 'installs?sort=name&offset=0&limit=50'],
];

/** Requests the session, unless the page needs none, and the first list of the page. */
export function beginEarlyRequests(): void {
  const base = new URL(document.baseURI);
  const { pathname, search } = window.location;
  const path = pathname.slice(base.pathname.length);
  if (WITHOUT_SESSION.test(path)) return;
  const addresses = ['session'];
  for (const [page, address] of FIRST_LISTS) {
    const [, accountId] = page.exec(path) ?? [];
    // Filters in the query string ask for other lists.
    if (accountId !== undefined && search === '') addresses.push(`accounts/${accountId}/${address}`);
  }
  window.homeportEarly = new Map(
    addresses.map((address) => {
      const url = new URL(`portal/api/${address}`, base).href;
      const request = fetch(url);
      // The taker sees a failure. Without one, the browser would log it.
      request.catch(() => {});
      return [url, request];
    }),
  );
}

/** Returns the response of a request that began before the scripts had loaded, once; otherwise sends `request`. */
export function earlyOrFetched(request: Request): Promise<Response> {
  const begun = request.method === 'GET' ? window.homeportEarly?.get(request.url) : undefined;
  if (begun === undefined) return fetch(request);
  window.homeportEarly?.delete(request.url);
  return begun;
}

/** Drops what began before the scripts had loaded, because no one was signed in. */
export function forgetEarlyRequests(): void {
  window.homeportEarly?.clear();
}
