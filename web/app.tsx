import { type ComponentType, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { LoadFailure, ProgressBar } from './components/notice.tsx';
import { Page } from './components/page.tsx';
import { useLiveChanges } from './live/live.ts';
import {
  type PortalSession,
  SessionProvider,
  useAccount,
  useSession,
  useSessionQuery,
} from './session/session.ts';
import { lastAccount, rememberAccount } from './shell/last-account.ts';
import { Alone, Shell } from './shell/shell.tsx';

/** A page that is loaded when somebody goes there. */
function page<Module, Props extends object>(
  load: () => Promise<Module>,
  choose: (module: Module) => ComponentType<Props>,
) {
  return lazy(async () => ({ default: choose(await load()) }));
}

const signIn = () => import('./pages/sign-in/index.tsx');
const me = () => import('./pages/me/index.tsx');
const account = () => import('./pages/account/index.tsx');
const site = () => import('./pages/site/index.tsx');
const install = () => import('./pages/install/index.tsx');

const SignInPage = page(signIn, (pages) => pages.SignInPage);
const SecondFactorPage = page(signIn, (pages) => pages.SecondFactorPage);
const ForgottenPasswordPage = page(signIn, (pages) => pages.ForgottenPasswordPage);
const PasswordLinkPage = page(signIn, (pages) => pages.PasswordLinkPage);
const InvitationPage = page(signIn, (pages) => pages.InvitationPage);
const ForcedEnrolmentPage = page(me, (pages) => pages.ForcedEnrolmentPage);
const ProfilePage = page(me, (pages) => pages.ProfilePage);
const SecurityPage = page(me, (pages) => pages.SecurityPage);
const ApiAccessPage = page(me, (pages) => pages.ApiAccessPage);
const SshKeysPage = page(me, (pages) => pages.SshKeysPage);
const SitesPage = page(account, (pages) => pages.SitesPage);
const InstallsPage = page(account, (pages) => pages.InstallsPage);
const PeoplePage = page(account, (pages) => pages.PeoplePage);
const ActivityPage = page(account, (pages) => pages.ActivityPage);
const SettingsPage = page(account, (pages) => pages.SettingsPage);
const SitePage = page(site, (pages) => pages.SitePage);
const InstallPage = page(install, (pages) => pages.InstallPage);

export function App() {
  return (
    <Suspense fallback={<ProgressBar label="Loading" />}>
      <Switch>
        {/* Links of mails work whoever is signed in. */}
        <Route path="/invitations/:token">
          {({ token }) => (
            <Alone>
              <InvitationPage token={token} />
            </Alone>
          )}
        </Route>
        <Route path="/password/:token">
          {({ token }) => (
            <Alone>
              <PasswordLinkPage token={token} />
            </Alone>
          )}
        </Route>
        <Route path="/forgotten-password">
          <Alone>
            <ForgottenPasswordPage />
          </Alone>
        </Route>
        <Route>
          <Entrance />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Whoever is wholly signed in goes on to where they wanted; the others are asked for what is missing. */
function Entrance() {
  const { data: session, error, refetch } = useSessionQuery();
  if (session === undefined) {
    return error ? (
      <Alone>
        <LoadFailure error={error} onRetry={() => void refetch()} />
      </Alone>
    ) : (
      <ProgressBar label="Loading" />
    );
  }
  if (session?.stage === 'full') return <SignedIn session={session} />;
  return (
    <Alone>
      {session === null && <SignInPage />}
      {session?.stage === 'second_factor' && <SecondFactorPage />}
      {session?.stage === 'enrolment' && <ForcedEnrolmentPage />}
    </Alone>
  );
}

function SignedIn({ session }: { session: PortalSession }) {
  return (
    <SessionProvider value={session}>
      <Places />
    </SessionProvider>
  );
}

function Places() {
  useLiveChanges();
  const { accounts } = useSession();
  const first = lastAccount(accounts);
  return (
    <Switch>
      <Route path="/">
        {first ? (
          <Redirect href={`/accounts/${first.id}/sites`} replace />
        ) : (
          <InShell>
            <NoAccount />
          </InShell>
        )}
      </Route>
      <Route path="/sign-in">
        {/* A key of its own: the one at / would else be this very one, which has gone on already and does so once. */}
        <Redirect key="from-sign-in" href="/" replace />
      </Route>
      <Route path="/accounts/:accountId/sites">
        {({ accountId }) => <OfAccount id={accountId} page={SitesPage} />}
      </Route>
      <Route path="/accounts/:accountId/installs">
        {({ accountId }) => <OfAccount id={accountId} page={InstallsPage} />}
      </Route>
      <Route path="/accounts/:accountId/people">
        {({ accountId }) => <OfAccount id={accountId} page={PeoplePage} />}
      </Route>
      <Route path="/accounts/:accountId/activity">
        {({ accountId }) => <OfAccount id={accountId} page={ActivityPage} />}
      </Route>
      <Route path="/accounts/:accountId/settings">
        {({ accountId }) => <OfAccount id={accountId} page={SettingsPage} />}
      </Route>
      <Route path="/sites/:siteId">
        {({ siteId }) => (
          <InShell>
            <SitePage siteId={siteId} />
          </InShell>
        )}
      </Route>
      <Route path="/installs/:installId/:section?">
        {({ installId, section }) => (
          <InShell>
            <InstallPage installId={installId} section={section ?? 'overview'} />
          </InShell>
        )}
      </Route>
      <Route path="/me/profile">
        <InShell>
          <ProfilePage />
        </InShell>
      </Route>
      <Route path="/me/security">
        <InShell>
          <SecurityPage />
        </InShell>
      </Route>
      <Route path="/me/api-access">
        <InShell>
          <ApiAccessPage />
        </InShell>
      </Route>
      <Route path="/me/ssh-keys">
        <InShell>
          <SshKeysPage />
        </InShell>
      </Route>
      <Route>
        <InShell>
          <NotThere />
        </InShell>
      </Route>
    </Switch>
  );
}

/** A page of one account; it is the one that the shell shows from then on. */
function OfAccount({ id, page: Content }: { id: string; page: ComponentType<{ accountId: string }> }) {
  const found = useAccount(id);
  useEffect(() => {
    if (found) rememberAccount(found.id);
  }, [found]);
  return <Shell account={found}>{found ? <Content accountId={id} /> : <NotThere />}</Shell>;
}

function InShell({ children }: { children: ReactNode }) {
  const { accounts } = useSession();
  return <Shell account={lastAccount(accounts)}>{children}</Shell>;
}

function NoAccount() {
  return (
    <Page title="No account">
      <p>You are in no account any more. Whoever is the owner of one can invite you.</p>
    </Page>
  );
}

function NotThere() {
  const [location] = useLocation();
  return (
    <Page title="There is nothing here">
      <p>
        Nothing is at <code>{location}</code>, or it is not yours to see.
      </p>
    </Page>
  );
}
