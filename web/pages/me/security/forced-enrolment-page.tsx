import { useQueryClient } from '@tanstack/react-query';
import { useSecondFactor } from '../../../api/me.ts';
import { SESSION_KEY } from '../../../api/query-keys.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Page, Section } from '../../../components/page.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { useSignOut } from '../../../session/session.ts';
import { Enrolment } from './enrolment.tsx';
import { accountNames } from './required-by.ts';

/** Shown instead of the portal to users without a second factor whose account requires one. */
export function ForcedEnrolmentPage({ email }: { email: string }) {
  const factor = useSecondFactor();
  const queries = useQueryClient();
  const signOut = useSignOut();
  return (
    <Page title="Second factor required">
      <Loaded query={factor} what="your second factor">
        {({ required_by }) => (
          <Notice role="alert">
            {accountNames(required_by)} requires a second factor: a code from an app on your phone in addition
            to your password. Setup takes about two minutes.
          </Notice>
        )}
      </Loaded>
      <Section title="Setup">
        <Enrolment
          email={email}
          actions={<Button onClick={() => signOut().catch(showFailure)}>Sign out</Button>}
          onDone={() => queries.refetchQueries({ queryKey: SESSION_KEY })}
        />
      </Section>
    </Page>
  );
}
