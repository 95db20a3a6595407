import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { portal } from '../../api/client.ts';
import { ApiFailure, unwrap } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/queries.ts';
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

/** The password was right; the code of the app, or one that was kept for when it is lost, is still to come. */
export function SecondFactorPage() {
  const [kind, setKind] = useState<Kind>('app');
  const signOut = useSignOut();
  const pass = usePassSecondFactor();
  return (
    <Page title="Second factor">
      <Card>
        {kind === 'app' ? (
          <Form key="app" submitLabel="Go on" onSubmit={(values) => pass(values, kind)}>
            <CodeField hint="The code that the app on your telephone shows for Homeport now." />
          </Form>
        ) : (
          <Form key="recovery" submitLabel="Go on" onSubmit={(values) => pass(values, kind)}>
            <RecoveryCodeField />
          </Form>
        )}
        <CardLinks>
          <Button small variant="quiet" onClick={() => setKind(kind === 'app' ? 'recovery' : 'app')}>
            {kind === 'app' ? 'Use a recovery code' : 'Use the app'}
          </Button>
          <Button small variant="quiet" onClick={() => signOut().catch(showFailure)}>
            Sign in as somebody else
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
      // A wrong code and a session that has ended are refused alike: the session itself tells which it was.
      const refused = error instanceof ApiFailure && error.status === 401;
      if (refused) await queries.refetchQueries({ queryKey: SESSION_KEY });
      if (refused && queries.getQueryData(SESSION_KEY) === null) {
        navigate(location, { replace: true, state: noticeState('ended') });
        return;
      }
      throw attemptError(
        error,
        kind === 'app'
          ? 'The code is not right, or it was used already. Wait for the next one of the app.'
          : 'The recovery code is not right, or it was used already.',
        kind === 'app' ? 'use a recovery code' : undefined,
      );
    }
    await queries.refetchQueries({ queryKey: SESSION_KEY });
  };
}
