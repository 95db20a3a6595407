import Bars3Icon from '@heroicons/react/24/outline/Bars3Icon';
import BookOpenIcon from '@heroicons/react/24/outline/BookOpenIcon';
import XMarkIcon from '@heroicons/react/24/outline/XMarkIcon';
import { type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ErrorBoundary } from '../components/error-boundary.tsx';
import { onDemand } from '../components/on-demand.ts';
import { useClearToastsOnUnmount } from '../components/toast.tsx';
import { useIsConnected } from '../live/connected.ts';
import { type SessionAccount, useSession } from '../session/session.ts';
import { accountDestinations } from './account-places.ts';
import { AccountSwitcher } from './account-switcher.tsx';
import { Brand } from './brand.tsx';
import { useDisclosure } from './disclosure.ts';
import { Navigation } from './navigation.tsx';
import { PersonMenu } from './person-menu.tsx';
import { useRecentPages } from './recent-pages.ts';
import { ReleaseNotice } from './release-notice.tsx';
import { SearchButton } from './search-button.tsx';
import styles from './shell.module.css';
import { SidebarPlace } from './sidebar-place.ts';

const Bell = onDemand(
  () => import('./bell.tsx'),
  (module) => module.Bell,
);

/**
 * The frame around every page after sign-in: a sidebar, which narrow screens show on request. `account` is the one that the page belongs
 * to.
 */
export function Shell({ account, children }: { account: SessionAccount | undefined; children: ReactNode }) {
  const main = useRef<HTMLElement>(null);
  const [location] = useLocation();
  const [sidebarPlace, setSidebarPlace] = useState<HTMLElement | null>(null);
  const menu = useDisclosure(location);
  useFocusOnNewPage(main, location);
  useRecentPages(useSession().user.id, location);
  useClearToastsOnUnmount();
  return (
    <SidebarPlace value={sidebarPlace}>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <div className={styles.frame}>
        <header className={styles.header}>
          <div className={styles.top}>
            <button
              ref={menu.button}
              type="button"
              className={styles.menu}
              aria-label="Menu"
              aria-expanded={menu.isOpen}
              aria-controls="sidebar"
              onClick={menu.toggle}
            >
              {menu.isOpen ? <XMarkIcon /> : <Bars3Icon />}
            </button>
            <Link href="/" className={styles.brand}>
              <Brand />
            </Link>
            {account && <SearchButton accountId={account.id} />}
            <span className={styles.bell}>
              <Suspense>
                <Bell />
              </Suspense>
            </span>
          </div>
          <div id="sidebar" className={styles.sidebar} data-open={menu.isOpen || undefined}>
            {account && <AccountSwitcher account={account} location={location} />}
            {account && <Navigation label="Account" destinations={accountDestinations(account, location)} />}
            <div ref={setSidebarPlace} className={styles.place} />
            <div className={styles.foot}>
              <ReleaseNotice />
              <a href="docs" className={styles.docs} target="_blank" rel="noopener">
                <BookOpenIcon />
                Documentation
                <span className="visually-hidden"> in a new tab</span>
              </a>
              <PersonMenu location={location} />
            </div>
          </div>
        </header>
        <div className={styles.content}>
          <ConnectionLine />
          <main id="content" ref={main} className={styles.main} tabIndex={-1} inert={menu.isOpen}>
            <ErrorBoundary place={location}>{children}</ErrorBoundary>
          </main>
        </div>
      </div>
    </SidebarPlace>
  );
}

/**
 * A line above the page while live changes do not arrive. Always rendered, because screen readers ignore a live
 * region that appears together with its text.
 */
function ConnectionLine() {
  const isConnected = useIsConnected();
  return (
    <output className={styles.connection} aria-live="polite">
      {!isConnected && 'Connection lost. This page may be out of date.'}
    </output>
  );
}

/** The layout of pages before sign-in is complete. */
export function SignedOutLayout({ children }: { children: ReactNode }) {
  return (
    <main id="content" className={styles.alone} tabIndex={-1}>
      <span className={styles.brand}>
        <Brand />
      </span>
      {children}
    </main>
  );
}

/** Moves the focus to each new page, so that screen readers announce it. The browser announces the first one. */
function useFocusOnNewPage(main: React.RefObject<HTMLElement | null>, location: string): void {
  const seen = useRef(location);
  useEffect(() => {
    if (seen.current === location) return;
    seen.current = location;
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [main, location]);
}
