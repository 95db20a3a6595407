import { useQueryClient } from '@tanstack/react-query';
import { useSecondFactor } from '../../../api/me.ts';
import { SESSION_KEY } from '../../../api/queries.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Page, Section } from '../../../components/page.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { useSignOut } from '../../../session/session.ts';
import { Enrolment } from './enrolment.tsx';
import { accountsInWords } from './required-by.ts';

/** For people whose account demands a second factor and who have none: nothing else is to be had until they do. */
export function ForcedEnrolmentPage({ email }: { email: string }) {
  const factor = useSecondFactor();
  const queries = useQueryClient();
  const signOut = useSignOut();
  return (
    <Page title="A second factor is needed">
      <Loaded query={factor} what="your second factor">
        {({ required_by }) => (
          <Notice role="alert">
            {accountsInWords(required_by)} asks everybody for a second factor: besides your password a code
            from an app on your telephone. It takes two minutes, and then you are in the portal.
          </Notice>
        )}
      </Loaded>
      <Section title="Set it up">
        <Enrolment
          email={email}
          actions={<Button onClick={() => signOut().catch(showFailure)}>Sign out</Button>}
          onDone={() => queries.refetchQueries({ queryKey: SESSION_KEY })}
        />
      </Section>
    </Page>
  );
}
