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

/** What stands around every page of somebody who is signed in. `account`: the one that the page belongs to. */
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
        { href: at('sites'), label: 'Sites', things: '/sites/' },
        { href: at('installs'), label: 'Installs', things: '/installs/' },
        { href: at('people'), label: 'People' },
        ...(may('activity.read') ? [{ href: at('activity'), label: 'Activity' }] : []),
        ...(may('account.change') ? [{ href: at('settings'), label: 'Settings' }] : []),
      ]
    : [];
  return (
    <>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to the content
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
            label={`Account ${account.name}; choose another`}
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
  /** What the addresses of the single things that it lists begin with. */
  things?: string;
}

/** Whether somebody is there, or at one of the things that it lists. */
function currentAt({ href, things }: Place, location: string): 'page' | 'true' | undefined {
  if (location === href) return 'page';
  return things !== undefined && location.startsWith(things) ? 'true' : undefined;
}

/** Under the header while what others change does not come; there all the time, since a region that comes with its text is not read out. */
function ConnectionLine() {
  const isConnected = useIsConnected();
  return (
    <output className={styles.connection} aria-live="polite">
      {!isConnected && 'Not connected: what you see may be old.'}
    </output>
  );
}

function PersonMenu() {
  const { user } = useSession();
  const signOut = useSignOut();
  return (
    <Menu
      label={`${user.first_name} ${user.last_name}: your settings`}
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

/** A page of its own for those who are not signed in, or not wholly. */
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

/** Whoever hears the page is told of a new one; the first is told by the browser itself. */
function useFocusOnNewPage(main: React.RefObject<HTMLElement | null>, location: string): void {
  const seen = useRef(location);
  useEffect(() => {
    if (seen.current === location) return;
    seen.current = location;
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [main, location]);
}
