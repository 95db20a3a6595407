import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { portal } from '../../api/client.ts';
import { ApiFailure, unwrap, unwrapEmpty } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page, Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useSession } from '../../session/session.ts';

const isUnusable = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/** Confirms a new email address by the link in an email. It needs a click, because email scanners open links, too. */
export function ConfirmEmailPage({ token }: { token: string }) {
  const { user } = useSession();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const queryKey = ['email-change', token];
  const path = { token };
  const change = useQuery({
    queryKey,
    queryFn: () => unwrap(portal.GET('/portal/api/email_changes/{token}', { params: { path } })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

  async function confirm() {
    try {
      await unwrapEmpty(portal.POST('/portal/api/email_changes/{token}', { params: { path } }));
    } catch (error) {
      if (isUnusable(error)) await queries.refetchQueries({ queryKey });
      throw error;
    }
    await queries.invalidateQueries({ queryKey: SESSION_KEY });
    showSuccess('Changed your email address.');
    navigate('/me/profile', { replace: true });
  }

  return (
    <Page title="New email address">
      {isUnusable(change.error) ? (
        <Notice tone="bad" title="This link does not work" role="alert">
          <p>
            The link was used before, has expired, was replaced by a newer one, or belongs to another user
            than {user.email}.
          </p>
          <p>
            Request a new link in <Link href="/me/profile">your profile</Link>.
          </p>
        </Notice>
      ) : (
        <Loaded query={change} what="the link">
          {({ email }) => (
            <Section title={`Change your email address to ${email}?`}>
              <Form submitLabel="Use this address" onSubmit={confirm}>
                <p>
                  Your current address is {user.email}. After the change, we send emails to the new address.
                  Password links and invitations sent to the old address stop working.
                </p>
              </Form>
            </Section>
          )}
        </Loaded>
      )}
    </Page>
  );
}
