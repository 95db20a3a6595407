/** Where somebody is about to go: to a page of the portal, as the address bar shows it, or back to where they came from. */
export type Destination = string | 'back';

export interface Watch {
  /** Goes there after all; to the portal's first page where there is nothing to go back to. `navigate`: replaces the present entry. */
  leave(to: Destination, navigate: (path: string) => void): void;
  /** The entry above stays as one that Forward comes to, and that shows the same page: nothing takes away an entry of the history. */
  stop(): void;
}

/** The entry of the browser's history that stands above the page's own, so that Back comes to that one first. */
const MARK = 'homeportGuard';

const isAbove = (): boolean => {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && MARK in state;
};
const putAbove = () => history.pushState({ [MARK]: true }, '');
/** An entry that is put above ends the history: with the page's own alone below, there are two. */
const hasNothingBelow = (): boolean => history.length === 2;

/**
 * Holds up whoever is about to leave the page by one of its links or by Back, and tells `ask` where they want to go. When the window is
 * closed, or another site opened, the browser asks itself.
 */
export function guardNavigation(ask: (to: Destination) => void): Watch {
  const watching = new AbortController();
  const { signal } = watching;
  putAbove();
  document.addEventListener(
    'click',
    (event) => {
      const path = pathLedTo(event);
      if (path === null) return;
      event.preventDefault();
      event.stopPropagation();
      ask(path);
    },
    { capture: true, signal },
  );
  window.addEventListener(
    'popstate',
    () => {
      if (isAbove()) return;
      putAbove();
      ask('back');
    },
    { signal },
  );
  window.addEventListener('beforeunload', (event) => event.preventDefault(), { signal });
  return {
    leave(to, navigate) {
      watching.abort();
      if (to !== 'back') navigate(to);
      else if (hasNothingBelow()) navigate(new URL(document.baseURI).pathname);
      else history.go(-2);
    },
    stop() {
      watching.abort();
      if (isAbove()) history.back();
    },
  };
}

/** The page of the portal that a click opens in place of this one. */
function pathLedTo(event: MouseEvent): string | null {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const opensBeside = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (link === null || opensBeside || link.target !== '' || link.hasAttribute('download')) return null;
  const { origin, pathname, search, hash } = link;
  return origin === location.origin && pathname !== location.pathname ? `${pathname}${search}${hash}` : null;
}
