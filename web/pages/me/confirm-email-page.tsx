import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { portal } from '../../api/client.ts';
import { ApiFailure, unwrap, unwrapEmpty } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/queries.ts';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Page, Section } from '../../components/page.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useSession } from '../../session/session.ts';

const isUnusable = (error: unknown): boolean => error instanceof ApiFailure && error.status === 404;

/** Where the link in the mail to a new address leads. It asks for a press: programs that look through mails open links too. */
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
    showSuccess('Your e-mail address is changed.');
    navigate('/me/profile', { replace: true });
  }

  return (
    <Page title="New e-mail address">
      {isUnusable(change.error) ? (
        <Notice tone="bad" title="This link does not work" role="alert">
          <p>
            It was used already, it is too old, a newer one has taken its place, or it is not for {user.email}
            , as whom you are signed in.
          </p>
          <p>
            Ask for a new one in <Link href="/me/profile">your profile</Link>.
          </p>
        </Notice>
      ) : (
        <Loaded query={change} what="the link">
          {({ email }) => (
            <Section title={`Sign in as ${email} from now on?`}>
              <Form submitLabel="Use this address" onSubmit={confirm}>
                <p>
                  Until now it is {user.email}. Once you have changed it, mails go to the new address, and
                  links to set a password and invitations that were mailed to the old one stop working.
                </p>
              </Form>
            </Section>
          )}
        </Loaded>
      )}
    </Page>
  );
}
