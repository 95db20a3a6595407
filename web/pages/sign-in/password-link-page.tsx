import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { portal } from '../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/queries.ts';
import { CheckboxField, TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { NewPasswordFields, newPasswordOf } from '../../components/new-password.tsx';
import { Page } from '../../components/page.tsx';
import { Card } from './card.tsx';
import { FocusedForm } from './first-field.tsx';
import { noticeState } from './sign-in-notice.ts';
import { isUnusable, UnusableLink } from './unusable-link.tsx';

/** Where the links of the first start, of the command line and of the mail for a forgotten password lead. */
export function PasswordLinkPage({ token }: { token: string }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const queryKey = ['password-link', token];
  const path = { token };
  const link = useQuery({
    queryKey,
    queryFn: () => unwrap(portal.GET('/portal/api/password_links/{token}', { params: { path } })),
    staleTime: Number.POSITIVE_INFINITY,
    // Back here after it was used, it is looked at anew.
    gcTime: 0,
  });

  async function set(values: FormData, email: string) {
    const body = { password: newPasswordOf(values), end_api_access: values.has('end_api_access') };
    try {
      await unwrapEmpty(portal.POST('/portal/api/password_links/{token}', { params: { path }, body }));
    } catch (error) {
      if (isUnusable(error)) await queries.refetchQueries({ queryKey });
      throw error;
    }
    // All sessions of the person have ended, that of this browser too if it is theirs.
    queries.removeQueries({ queryKey: SESSION_KEY });
    navigate('/sign-in', { state: noticeState('password_set', email) });
  }

  return (
    <Page title="Set your password">
      <Card>
        {isUnusable(link.error) ? (
          <UnusableLink>
            <Link href="/forgotten-password">Have a new link sent to you</Link>, or ask your provider for one.
          </UnusableLink>
        ) : (
          <Loaded query={link} what="the link">
            {({ email, first_name, purpose, api_credentials }) => (
              <>
                <p>
                  {/* The first owner of all has a name that nobody chose. */}
                  {purpose === 'first'
                    ? `Welcome. Choose a password for the portal.`
                    : `Hello ${first_name}. Choose a new password; wherever you are signed in now, you will be signed out.`}
                </p>
                <FocusedForm>
                  <Form submitLabel="Set the password" onSubmit={(values) => set(values, email)}>
                    <TextField
                      label="E-mail address"
                      name="email"
                      type="email"
                      autoComplete="username"
                      value={email}
                      readOnly
                    />
                    <NewPasswordFields />
                    {purpose === 'reset' && api_credentials > 0 && (
                      <CheckboxField
                        label="End my API access, too"
                        name="end_api_access"
                        hint={`Programs that work in your name (${
                          api_credentials === 1 ? '1 credential' : `${api_credentials} credentials`
                        }) are refused from then on. Tick it if somebody else may have got in.`}
                      />
                    )}
                  </Form>
                </FocusedForm>
              </>
            )}
          </Loaded>
        )}
      </Card>
    </Page>
  );
}
