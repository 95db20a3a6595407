import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { portal } from '../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../api/failure.ts';
import { CheckboxField, TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { NewPasswordFields, newPasswordOf } from '../../components/new-password.tsx';
import { Page } from '../../components/page.tsx';
import { Card } from './card.tsx';
import { useChosenPassword } from './chosen-password.ts';
import { FocusedForm } from './first-field.tsx';
import { isUnusable, UnusableLink } from './unusable-link.tsx';

/** Sets a password by a link from the first start, the command line or a password reset email. */
export function PasswordLinkPage({ token }: { token: string }) {
  const queries = useQueryClient();
  const signIn = useChosenPassword();
  const queryKey = ['password-link', token];
  const path = { token };
  const link = useQuery({
    queryKey,
    queryFn: () => unwrap(portal.GET('/portal/api/password_links/{token}', { params: { path } })),
    staleTime: Number.POSITIVE_INFINITY,
    // A used link must be checked again when the user returns.
    gcTime: 0,
  });

  async function set(values: FormData, email: string) {
    const password = newPasswordOf(values);
    const body = { password, end_api_access: values.has('end_api_access') };
    try {
      await unwrapEmpty(portal.POST('/portal/api/password_links/{token}', { params: { path }, body }));
    } catch (error) {
      if (isUnusable(error)) await queries.refetchQueries({ queryKey });
      throw error;
    }
    await signIn(email, password, 'password_set');
  }

  return (
    <Page title="Set password">
      <Card>
        {isUnusable(link.error) ? (
          <UnusableLink>
            <Link href="/forgotten-password">Request a new link</Link>, or ask your provider for one.
          </UnusableLink>
        ) : (
          <Loaded query={link} what="the link">
            {({ email, first_name, purpose, api_credentials }) => (
              <>
                <p>
                  {/* The first owner's name is a placeholder, so the greeting leaves it out. */}
                  {purpose === 'first'
                    ? `Welcome. Choose a password for the portal.`
                    : `Hello ${first_name}. Choose a new password. This signs you out everywhere.`}
                </p>
                <FocusedForm>
                  <Form submitLabel="Set password" onSubmit={(values) => set(values, email)}>
                    <TextField
                      label="Email address"
                      name="email"
                      type="email"
                      autoComplete="username"
                      value={email}
                      readOnly
                    />
                    <NewPasswordFields />
                    {purpose === 'reset' && api_credentials > 0 && (
                      <CheckboxField
                        label="Also revoke my API credentials"
                        name="end_api_access"
                        hint={`Programs that use ${api_credentials === 1 ? 'your credential' : `your ${api_credentials} credentials`} lose access. Recommended if someone else may have had access to your account.`}
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
