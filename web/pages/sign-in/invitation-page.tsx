import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type PortalPaths, portal } from '../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { useFocusOnMount } from '../../components/focus-on-mount.ts';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { NewPasswordFields, newPasswordOf } from '../../components/new-password.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { Card, CardLinks } from './card.tsx';
import { useChosenPassword } from './chosen-password.ts';
import { FocusedForm } from './first-field.tsx';
import { noticeState } from './sign-in-notice.ts';
import { isUnusable, UnusableLink } from './unusable-link.tsx';

type Invitation =
  PortalPaths['/portal/api/invitations/{token}']['get']['responses'][200]['content']['application/json'];

/** Accepts an invitation. New users choose a password; existing users only confirm. */
export function InvitationPage({ token }: { token: string }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const signIn = useChosenPassword();
  const queryKey = ['invitation', token];
  const path = { token };
  const [declining, setDeclining] = useState(false);
  /** The account whose invitation was declined. */
  const [declined, setDeclined] = useState<string | null>(null);
  const invitation = useQuery({
    queryKey,
    queryFn: () => unwrap(portal.GET('/portal/api/invitations/{token}', { params: { path } })),
    staleTime: Number.POSITIVE_INFINITY,
    // A used link must be checked again when the user returns.
    gcTime: 0,
  });

  async function accept({ account_name, email, has_password }: Invitation, values: FormData) {
    const password = has_password ? null : newPasswordOf(values);
    const body = password === null ? {} : { password };
    try {
      await unwrapEmpty(portal.POST('/portal/api/invitations/{token}', { params: { path }, body }));
    } catch (error) {
      if (isUnusable(error)) await queries.refetchQueries({ queryKey });
      throw error;
    }
    if (password !== null) return signIn(email, password, 'accepted');
    // Reloads the session of a signed-in user, who has a new account.
    queries.removeQueries({ queryKey: SESSION_KEY });
    showSuccess(`You joined the account ${account_name}.`);
    navigate('/sign-in', { state: noticeState('accepted', email) });
  }

  async function decline({ account_name }: Invitation) {
    try {
      await unwrapEmpty(portal.DELETE('/portal/api/invitations/{token}', { params: { path } }));
    } catch (error) {
      if (isUnusable(error)) await queries.refetchQueries({ queryKey });
      throw error;
    }
    // Reloads the session of a signed-in user, who has one account less.
    queries.removeQueries({ queryKey: SESSION_KEY });
    setDeclined(account_name);
  }

  if (declined !== null) return <Declined accountName={declined} />;

  return (
    <Page title="Invitation">
      <Card>
        {isUnusable(invitation.error) ? (
          <UnusableLink>Ask the person who invited you for a new invitation.</UnusableLink>
        ) : (
          <Loaded query={invitation} what="the invitation">
            {(open) => (
              <>
                <p>
                  Hello {open.first_name}. You are invited to join the account{' '}
                  <strong>{open.account_name}</strong>.
                </p>
                <FocusedForm>
                  <Form submitLabel="Accept invitation" onSubmit={(values) => accept(open, values)}>
                    {open.has_password ? (
                      <p>You already have a password for {open.email}. Keep using it to sign in.</p>
                    ) : (
                      <>
                        <TextField
                          label="Email address"
                          name="email"
                          type="email"
                          autoComplete="username"
                          value={open.email}
                          hint="You sign in with this address and the password below."
                          readOnly
                        />
                        <NewPasswordFields label="Password" />
                      </>
                    )}
                  </Form>
                </FocusedForm>
                <CardLinks>
                  <Button small variant="quiet" onClick={() => setDeclining(true)}>
                    Decline
                  </Button>
                </CardLinks>
                <ConfirmDialog
                  open={declining}
                  onOpenChange={setDeclining}
                  title="Decline this invitation?"
                  description={`You will not join the account ${open.account_name}. Its owners can see that you declined, and can invite you again.`}
                  confirmLabel="Decline invitation"
                  onConfirm={() => decline(open)}
                />
              </>
            )}
          </Loaded>
        )}
      </Card>
    </Page>
  );
}

function Declined({ accountName }: { accountName: string }) {
  const notice = useFocusOnMount<HTMLDivElement>();
  return (
    <Page title="Invitation">
      <Notice ref={notice} tone="good" role="status" title="You declined the invitation">
        <p>
          You did not join the account {accountName}, and this link no longer works. You can be invited again.
        </p>
        <p>
          If you have other accounts, <Link href="/">go to the portal</Link>.
        </p>
      </Notice>
    </Page>
  );
}
