import { useEffect } from 'react';

/** A page that the user has opened in this tab. */
export interface RecentPage {
  title: string;
  /** Path and query string, without the path of the portal. */
  href: string;
}

const MOST = 8;
/** Ends the title of every page (components/page.tsx). */
const ENDING = ' · Homeport';

const keyOf = (userId: string) => `homeport-recent-${userId}`;

/** Returns the pages that the user left last in this tab, newest first. */
export function recentPages(userId: string): RecentPage[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(userId)) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isRecentPage) : [];
  } catch {
    return [];
  }
}

function isRecentPage(value: unknown): value is RecentPage {
  const page = Object(value);
  return typeof page.title === 'string' && typeof page.href === 'string' && page.href.startsWith('/');
}

/** Returns the list after the user left a page. A page that is in it moves to its beginning. */
export function withPage(pages: readonly RecentPage[], left: RecentPage): RecentPage[] {
  return [left, ...pages.filter(({ href }) => href !== left.href)].slice(0, MOST);
}

/** Redirects. They still have the title of the page before. */
const REDIRECTS = ['/', '/sign-in'];

/** Remembers each page when the user goes to another one. The tab forgets them when it closes. */
export function useRecentPages(userId: string, location: string): void {
  useEffect(() => {
    if (REDIRECTS.includes(location)) return;
    const { search } = window.location;
    return () => {
      // The next page has not set its title yet.
      if (!document.title.endsWith(ENDING) || /not found/.test(document.title)) return;
      const title = document.title.slice(0, -ENDING.length);
      const pages = withPage(recentPages(userId), { title, href: location + search });
      sessionStorage.setItem(keyOf(userId), JSON.stringify(pages));
    };
  }, [userId, location]);
}
