import { Suspense, useState } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { areHidden, type PortalSession, type SessionState } from './api/session-state.ts';
import { ButtonLink } from './components/button.tsx';
import { useDialogsAhead } from './components/dialog.tsx';
import { LoadFailure } from './components/notice.tsx';
import { onDemand } from './components/on-demand.ts';
import { Page } from './components/page.tsx';
import { PageSkeleton } from './components/skeleton.tsx';
import { SentFrame } from './first/sent-frame.tsx';
import { useLiveChanges } from './live/use-live-changes.ts';
import {
  SessionProvider,
  useAccount,
  useClearCacheOnUnmount,
  useSession,
  useSessionQuery,
} from './session/session.ts';
import { SetCurrentAccount, useSetCurrentAccount } from './shell/current-account.ts';
import { lastAccount } from './shell/last-account.ts';
import { Shell, SignedOutLayout } from './shell/shell.tsx';
import { SignInLayer } from './shell/sign-in-layer.tsx';

const me = () => import('./pages/me/index.tsx');

const SignInPage = onDemand(
  () => import('./pages/sign-in/sign-in-page.tsx'),
  (module) => module.SignInPage,
);
const SecondFactorPage = onDemand(
  () => import('./pages/sign-in/second-factor-page.tsx'),
  (module) => module.SecondFactorPage,
);
const ForgottenPasswordPage = onDemand(
  () => import('./pages/sign-in/forgotten-password-page.tsx'),
  (module) => module.ForgottenPasswordPage,
);
const PasswordLinkPage = onDemand(
  () => import('./pages/sign-in/password-link-page.tsx'),
  (module) => module.PasswordLinkPage,
);
const InvitationPage = onDemand(
  () => import('./pages/sign-in/invitation-page.tsx'),
  (module) => module.InvitationPage,
);
const ForcedEnrolmentPage = onDemand(me, (pages) => pages.ForcedEnrolmentPage);
const ConfirmEmailPage = onDemand(me, (pages) => pages.ConfirmEmailPage);
const ProfilePage = onDemand(me, (pages) => pages.ProfilePage);
const SecurityPage = onDemand(me, (pages) => pages.SecurityPage);
const ApiAccessPage = onDemand(me, (pages) => pages.ApiAccessPage);
const SshKeysPage = onDemand(me, (pages) => pages.SshKeysPage);
const inbox = () => import('./pages/me/notifications/index.tsx');
const NotificationsPage = onDemand(inbox, (pages) => pages.NotificationsPage);
const NotificationPreferencesPage = onDemand(inbox, (pages) => pages.NotificationPreferencesPage);
const HomePage = onDemand(
  () => import('./pages/account/home/home.tsx'),
  (module) => module.HomePage,
);
const SitesPage = onDemand(
  () => import('./pages/account/sites.tsx'),
  (module) => module.SitesPage,
);
const InstallsPage = onDemand(
  () => import('./pages/account/installs.tsx'),
  (module) => module.InstallsPage,
);
const TransfersPage = onDemand(
  () => import('./pages/account/transfers.tsx'),
  (module) => module.TransfersPage,
);
const PeoplePage = onDemand(
  () => import('./pages/account/people.tsx'),
  (module) => module.PeoplePage,
);
const ActivityPage = onDemand(
  () => import('./pages/account/activity.tsx'),
  (module) => module.ActivityPage,
);
const UsagePage = onDemand(
  () => import('./pages/account/usage.tsx'),
  (module) => module.UsagePage,
);
const WebhooksPage = onDemand(
  () => import('./pages/account/webhooks/webhooks-page.tsx'),
  (module) => module.WebhooksPage,
);
const WebhookPage = onDemand(
  () => import('./pages/account/webhooks/webhook-page.tsx'),
  (module) => module.WebhookPage,
);
const NewSitePage = onDemand(
  () => import('./pages/new-site/new-site-page.tsx'),
  (module) => module.NewSitePage,
);
const SettingsPage = onDemand(
  () => import('./pages/account/settings.tsx'),
  (module) => module.SettingsPage,
);
const SitePage = onDemand(
  () => import('./pages/site/index.tsx'),
  (module) => module.SitePage,
);
const InstallPage = onDemand(
  () => import('./pages/install/index.tsx'),
  (module) => module.InstallPage,
);

export function App() {
  return (
    <Suspense fallback={<SentFrame />}>
      <Switch>
        {/* Links in emails work regardless of who is signed in. */}
        <Route path="/invitations/:token">
          {({ token }) => (
            <SignedOutLayout>
              <InvitationPage token={token} />
            </SignedOutLayout>
          )}
        </Route>
        <Route path="/password/:token">
          {({ token }) => (
            <SignedOutLayout>
              <PasswordLinkPage token={token} />
            </SignedOutLayout>
          )}
        </Route>
        <Route path="/forgotten-password">
          <SignedOutLayout>
            <ForgottenPasswordPage />
          </SignedOutLayout>
        </Route>
        <Route>
          <SessionGate />
        </Route>
      </Switch>
    </Suspense>
  );
}

/**
 * Shows the requested page to users who have signed in completely, and the next sign-in step to everyone else. If the session expires, the
 * page stays below that step, with all that the user typed.
 */
function SessionGate() {
  const { data: state, error, refetch } = useSessionQuery();
  if (state === undefined) {
    return error ? (
      <SignedOutLayout>
        <LoadFailure error={error} onRetry={() => void refetch()} />
      </SignedOutLayout>
    ) : (
      <SentFrame />
    );
  }
  const { kept } = state;
  if (kept === null) {
    return (
      <SignedOutLayout>
        <SignInStep state={state} />
      </SignedOutLayout>
    );
  }
  const isHidden = areHidden(state);
  return (
    <>
      <SignedIn key={kept.user.id} session={kept} isHidden={isHidden} />
      {isHidden && (
        <SignInLayer>
          <SignInStep state={state} />
        </SignInLayer>
      )}
    </>
  );
}

/** The next step of the sign-in. */
function SignInStep({ state: { session, kept, wasEnded, isUnverified } }: { state: SessionState }) {
  if (isUnverified) return <p role="status">Checking your session…</p>;
  if (session === null) return <SignInPage expiredOf={kept?.user.email} wasEnded={wasEnded} />;
  return session.stage === 'second_factor' ? (
    <SecondFactorPage factors={session.second_factors} />
  ) : (
    <ForcedEnrolmentPage email={session.user.email} />
  );
}

function SignedIn({ session, isHidden }: { session: PortalSession; isHidden: boolean }) {
  useClearCacheOnUnmount();
  useDialogsAhead();
  // The server would refuse the stream. When it opens again, everything is loaded again.
  useLiveChanges(isHidden ? null : session.user.id);
  return (
    <SessionProvider value={session}>
      <PortalRoutes />
    </SessionProvider>
  );
}

function PortalRoutes() {
  const { accounts } = useSession();
  const [shownId, show] = useState<string>();
  const account = accounts.find(({ id }) => id === shownId) ?? lastAccount(accounts);
  return (
    <SetCurrentAccount.Provider value={show}>
      <Shell account={account}>
        <Suspense fallback={<PageSkeleton />}>
          <Switch>
            <Route path="/">
              {account ? <Redirect href={`/accounts/${account.id}/home`} replace /> : <NoAccount />}
            </Route>
            <Route path="/sign-in">
              {/* Without its own key this would be the same element as the redirect at /, which redirects only once. */}
              <Redirect key="from-sign-in" href="/" replace />
            </Route>
            <Route path="/accounts/:accountId/:section">
              {({ accountId, section }) => <AccountPage key={accountId} id={accountId} section={section} />}
            </Route>
            <Route path="/accounts/:accountId/webhooks/:webhookId">
              {({ accountId, webhookId }) => (
                <AccountWebhookPage key={webhookId} id={accountId} webhookId={webhookId} />
              )}
            </Route>
            <Route path="/sites/:siteId">{({ siteId }) => <SitePage key={siteId} siteId={siteId} />}</Route>
            <Route path="/installs/:installId/:section?">
              {({ installId, section }) => (
                <InstallPage key={installId} installId={installId} section={section ?? 'overview'} />
              )}
            </Route>
            <Route path="/me/profile" component={ProfilePage} />
            <Route path="/me/email/:token">
              {({ token }) => <ConfirmEmailPage key={token} token={token} />}
            </Route>
            <Route path="/me/security" component={SecurityPage} />
            <Route path="/me/api-access" component={ApiAccessPage} />
            <Route path="/me/ssh-keys" component={SshKeysPage} />
            <Route path="/me/notifications" component={NotificationsPage} />
            <Route path="/me/notifications/preferences" component={NotificationPreferencesPage} />
            <Route component={NotFound} />
          </Switch>
        </Suspense>
      </Shell>
    </SetCurrentAccount.Provider>
  );
}

const ACCOUNT_PAGES = new Map([
  ['home', HomePage],
  ['sites', SitesPage],
  ['new-site', NewSitePage],
  ['installs', InstallsPage],
  ['transfers', TransfersPage],
  ['people', PeoplePage],
  ['usage', UsagePage],
  ['webhooks', WebhooksPage],
  ['activity', ActivityPage],
  ['settings', SettingsPage],
]);

/** A page of one account, which becomes the account that the shell shows. */
function AccountPage({ id, section }: { id: string; section: string }) {
  const found = useAccount(id);
  useSetCurrentAccount(found?.id);
  const Content = ACCOUNT_PAGES.get(section);
  return found && Content ? <Content accountId={id} /> : <NotFound />;
}

function AccountWebhookPage({ id, webhookId }: { id: string; webhookId: string }) {
  const found = useAccount(id);
  useSetCurrentAccount(found?.id);
  return found ? <WebhookPage accountId={id} webhookId={webhookId} /> : <NotFound />;
}

function NoAccount() {
  return (
    <Page title="No account">
      <p>
        You are not in any account. If you were invited, open the link in the invitation email. Otherwise ask
        an account owner to invite you.
      </p>
    </Page>
  );
}

function NotFound() {
  const [location] = useLocation();
  return (
    <Page title="Page not found">
      <p>
        There is no page at <code>{location}</code>, or you do not have access to it.
      </p>
      <div>
        <ButtonLink href="/">Go to the home page</ButtonLink>
      </div>
    </Page>
  );
}
