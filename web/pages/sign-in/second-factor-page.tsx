import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { portal } from '../../api/client.ts';
import { ApiFailure, unwrap } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { Button } from '../../components/button.tsx';
import { CodeField, RecoveryCodeField } from '../../components/code-field.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { Page } from '../../components/page.tsx';
import { showFailure } from '../../components/toast.tsx';
import { useSignOut } from '../../session/session.ts';
import { attemptError } from './attempt-error.ts';
import { Card, CardLinks } from './card.tsx';
import { noticeState } from './sign-in-notice.ts';

type Kind = 'app' | 'recovery';

/** The second step of signing in: a code from the app, or a recovery code. */
export function SecondFactorPage() {
  const [kind, setKind] = useState<Kind>('app');
  const signOut = useSignOut();
  const pass = usePassSecondFactor();
  return (
    <Page title="Second factor">
      <Card>
        {kind === 'app' ? (
          <Form key="app" submitLabel="Continue" onSubmit={(values) => pass(values, kind)}>
            <CodeField hint="The current code in your authenticator app." />
          </Form>
        ) : (
          <Form key="recovery" submitLabel="Continue" onSubmit={(values) => pass(values, kind)}>
            <RecoveryCodeField />
          </Form>
        )}
        <CardLinks>
          <Button small variant="quiet" onClick={() => setKind(kind === 'app' ? 'recovery' : 'app')}>
            {kind === 'app' ? 'Use a recovery code' : 'Use the authenticator app'}
          </Button>
          <Button small variant="quiet" onClick={() => signOut().catch(showFailure)}>
            Sign in as another user
          </Button>
        </CardLinks>
      </Card>
    </Page>
  );
}

function usePassSecondFactor() {
  const queries = useQueryClient();
  const [location, navigate] = useLocation();
  return async (values: FormData, kind: Kind) => {
    const body = { code: textOf(values, 'code') };
    try {
      await unwrap(portal.POST('/portal/api/session/second_factor', { body }));
    } catch (error) {
      // The server responds with 401 to a wrong code and to an ended session. Reloading the session shows which it was.
      const refused = error instanceof ApiFailure && error.status === 401;
      if (refused) await queries.refetchQueries({ queryKey: SESSION_KEY });
      if (refused && queries.getQueryData(SESSION_KEY) === null) {
        navigate(location, { replace: true, state: noticeState('ended') });
        return;
      }
      throw attemptError(
        error,
        kind === 'app'
          ? 'The code is wrong or was used before. Wait for the next code in the app.'
          : 'The recovery code is wrong or was used before.',
        kind === 'app' ? 'use a recovery code' : undefined,
      );
    }
    await queries.refetchQueries({ queryKey: SESSION_KEY });
  };
}
