import type { AroundNavHandler } from 'wouter';
import { leaveReason } from './leave-reasons.ts';

/** Where the user wants to go: to a path of the portal, or back in the history. */
export type Destination = string | 'back';

export interface NavigationGuard {
  /**
   * Leaves the page; goes to the portal's first page if the history has no earlier one. `navigate` replaces the
   * current entry.
   */
  leave(to: Destination, navigate: (path: string) => void): void;
  /** Stops guarding. The extra history entry remains reachable by Forward, because entries cannot be deleted. */
  stop(): void;
}

/** Marks the extra history entry above the page's own, which Back reaches first. */
const MARK = 'homeportGuard';

const isOnGuardEntry = (): boolean => {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && MARK in state;
};
const pushGuardEntry = () => history.pushState({ [MARK]: true }, '');
/** Asks where to go instead of going there, while a guard watches. */
let asking: ((to: Destination) => void) | null = null;
/** Resolves once the extra entry of a stopped guard is left; null if it is. */
let isLeavingEntry: Promise<void> | null = null;

/** Navigation of the portal: links, and its own, such as a command of the search. It asks first while a guard watches. */
export const navigateGuarded: AroundNavHandler = (navigate, to, options) => {
  const [path] = to.split(/[?#]/);
  if (asking !== null && leaveReason() !== null && path !== location.pathname) asking(to);
  // The step back would leave the new page instead.
  else if (isLeavingEntry !== null) void isLeavingEntry.then(() => navigate(to, options));
  else navigate(to, options);
};

/** Pushing an entry drops all entries after it, so a length of two means that only the page's own is below. */
const hasNothingBelow = (): boolean => history.length === 2;

/**
 * Intercepts links and Back, and calls `ask` with the destination. If the user closes the window or opens another
 * site, the browser asks.
 */
export function guardNavigation(ask: (to: Destination) => void): NavigationGuard {
  const watching = new AbortController();
  const { signal } = watching;
  asking = ask;
  if (isLeavingEntry === null) begin();
  else void isLeavingEntry.then(() => signal.aborted || begin());

  function begin(): void {
    // Going back to the page's own entry would scroll to where the guard began.
    history.scrollRestoration = 'manual';
    pushGuardEntry();
    window.addEventListener(
      'popstate',
      () => {
        if (isOnGuardEntry()) return;
        pushGuardEntry();
        ask('back');
      },
      { signal },
    );
  }

  document.addEventListener(
    'click',
    (event) => {
      const path = linkedPath(event);
      if (path === null) return;
      event.preventDefault();
      event.stopPropagation();
      ask(path);
    },
    { capture: true, signal },
  );
  window.addEventListener('beforeunload', (event) => event.preventDefault(), { signal });
  function end() {
    watching.abort();
    if (asking === ask) asking = null;
  }
  return {
    leave(to, navigate) {
      end();
      if (to !== 'back') navigate(to);
      else if (hasNothingBelow()) navigate(new URL(document.baseURI).pathname);
      else history.go(-2);
    },
    stop() {
      end();
      if (!isOnGuardEntry()) return;
      isLeavingEntry = new Promise((resolve) => {
        const left = () => {
          isLeavingEntry = null;
          history.scrollRestoration = 'auto';
          resolve();
        };
        window.addEventListener('popstate', left, { once: true });
      });
      history.back();
    },
  };
}

/** Returns the path of the portal that a click opens in this window; null for other clicks. */
function linkedPath(event: MouseEvent): string | null {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const opensElsewhere =
    event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
  if (link === null || opensElsewhere || link.target !== '' || link.hasAttribute('download')) return null;
  // The sign-in above a page whose session expired hides the question.
  if (link.closest('dialog') !== null) return null;
  const { origin, pathname, search, hash } = link;
  return origin === location.origin && pathname !== location.pathname ? `${pathname}${search}${hash}` : null;
}
