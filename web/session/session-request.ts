declare global {
  interface Window {
    /** The request that began before the portal's scripts had loaded, until they take it. */
    homeportSession?: Promise<Response> | undefined;
  }
}

/** Paths whose pages work without a session (app.tsx). */
const WITHOUT_SESSION = /^(invitations|password|forgotten-password)(\/|$)/;

/** Requests the session, unless the page needs none. */
export function requestSession(): void {
  const base = new URL(document.baseURI);
  const path = window.location.pathname.slice(base.pathname.length);
  if (WITHOUT_SESSION.test(path)) return;
  const request = fetch(new URL('portal/api/session', base));
  // The taker sees a failure. Without one, the browser would log it.
  request.catch(() => {});
  window.homeportSession = request;
}

/** Returns the response of the request that began before the scripts had loaded, once; then sends `request`. */
export function sessionResponse(request: Request): Promise<Response> {
  const begun = window.homeportSession;
  window.homeportSession = undefined;
  return begun ?? fetch(request);
}
