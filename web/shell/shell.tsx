import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { ErrorBoundary } from '../components/error-boundary.tsx';
import { Menu } from '../components/menu.tsx';
import { showFailure, useClearFailuresOnUnmount } from '../components/toast.tsx';
import { useIsConnected } from '../live/connected.ts';
import { type SessionAccount, useMay, useSession, useSignOut } from '../session/session.ts';
import { SearchButton } from './search-button.tsx';
import styles from './shell.module.css';
import { applyTheme, chosenTheme, THEMES } from './theme.ts';

const icon = new URL('../icon.svg', import.meta.url).href;

/** The frame around every page after sign-in. `account` is the one that the page belongs to. */
export function Shell({ account, children }: { account: SessionAccount | undefined; children: ReactNode }) {
  const { accounts } = useSession();
  const may = useMay(account?.id);
  const main = useRef<HTMLElement>(null);
  const [location] = useLocation();
  useFocusOnNewPage(main, location);
  useClearFailuresOnUnmount();
  const at = (path: string) => `/accounts/${account?.id}/${path}`;
  const places: readonly Place[] = account
    ? [
        { href: at('sites'), label: 'Sites', resources: '/sites/' },
        { href: at('installs'), label: 'Installs', resources: '/installs/' },
        { href: at('people'), label: 'People' },
        { href: at('usage'), label: 'Usage' },
        ...(may('webhook.manage')
          ? [{ href: at('webhooks'), label: 'Webhooks', resources: at('webhooks/') }]
          : []),
        ...(may('activity.read') ? [{ href: at('activity'), label: 'Activity' }] : []),
        ...(may('account.change') ? [{ href: at('settings'), label: 'Settings' }] : []),
      ]
    : [];
  return (
    <>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header className={styles.top}>
        <Link href="/" className={styles.brand}>
          <img src={icon} alt="" />
          <span className={styles.word}>Homeport</span>
        </Link>
        <nav className={styles.nav} aria-label="Account">
          <ul>
            {places.map((place) => (
              <li key={place.href}>
                <Link href={place.href} aria-current={currentAt(place, location)}>
                  {place.label}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        {account && <SearchButton />}
        {account && accounts.length === 1 && (
          <span className={styles.account} title={account.name}>
            {account.name}
          </span>
        )}
        {account && accounts.length > 1 && (
          <Menu
            label={`Account: ${account.name}. Switch account`}
            entries={accounts.map(({ id, name }) => ({
              label: name,
              href: `/accounts/${id}/sites`,
              current: id === account.id,
            }))}
          >
            <span className={styles.name}>{account.name}</span>
            <span aria-hidden="true">▾</span>
          </Menu>
        )}
        <PersonMenu />
      </header>
      <ConnectionLine />
      <main id="content" ref={main} className={styles.main} tabIndex={-1}>
        <ErrorBoundary place={location}>{children}</ErrorBoundary>
      </main>
    </>
  );
}

interface Place {
  href: string;
  label: string;
  /** Beginning of the paths of the listed resources' own pages. */
  resources?: string;
}

/** Returns whether a page, or one of the resources that it lists, is open. */
function currentAt({ href, resources }: Place, location: string): 'page' | 'true' | undefined {
  if (location === href) return 'page';
  return resources !== undefined && location.startsWith(resources) ? 'true' : undefined;
}

/**
 * A line under the header while live changes do not arrive. Always rendered, because screen readers ignore a live
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

function PersonMenu() {
  const { user } = useSession();
  const signOut = useSignOut();
  return (
    <Menu
      label={`${user.first_name} ${user.last_name}: your account`}
      entries={[
        { label: 'Profile', href: '/me/profile' },
        { label: 'Password and second factor', href: '/me/security' },
        { label: 'API access', href: '/me/api-access' },
        { label: 'SSH keys', href: '/me/ssh-keys' },
        ...THEMES.filter((theme) => theme !== chosenTheme()).map((theme) => ({
          label: `Theme: ${theme}`,
          onSelect: () => applyTheme(theme),
        })),
        { label: 'Sign out', onSelect: () => void signOut().catch(showFailure) },
      ]}
    >
      <span className={styles.name}>{user.first_name}</span>
      <span aria-hidden="true">▾</span>
    </Menu>
  );
}

/** The layout of pages before sign-in is complete. */
export function SignedOutLayout({ children }: { children: ReactNode }) {
  return (
    <main id="content" className={styles.alone} tabIndex={-1}>
      <span className={styles.brand}>
        <img src={icon} alt="" />
        Homeport
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
