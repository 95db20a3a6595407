import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type SecondFactor, useSecondFactor } from '../../../api/me.ts';
import { SESSION_KEY } from '../../../api/query-keys.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Notice } from '../../../components/notice.tsx';
import { Page, Section } from '../../../components/page.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { arePasskeysOffered } from '../../../passkeys/offered.ts';
import { useSignOut } from '../../../session/session.ts';
import { AddPasskey } from './add-passkey.tsx';
import { Enrolment } from './enrolment.tsx';
import { RecoveryCodesShown } from './recovery-codes-shown.tsx';
import { accountNames } from './required-by.ts';

/** Shown instead of the portal to users without a second factor whose account requires one. */
export function ForcedEnrolmentPage({ email }: { email: string }) {
  const factor = useSecondFactor();
  return (
    <Page title="Second factor required">
      <Loaded query={factor} what="your second factor">
        {({ required_by }) => (
          <Notice role="alert">
            {accountNames(required_by)} requires a second factor: a passkey, or a code from an app on your
            phone in addition to your password. Setup takes about two minutes.
          </Notice>
        )}
      </Loaded>
      {factor.data && <Setup email={email} factor={factor.data} />}
    </Page>
  );
}

function Setup({ email, factor }: { email: string; factor: SecondFactor }) {
  const queries = useQueryClient();
  const signOut = useSignOut();
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [byPasskey, setByPasskey] = useState(false);
  const finish = () => queries.refetchQueries({ queryKey: SESSION_KEY });
  const leave = <Button onClick={() => signOut().catch(showFailure)}>Sign out</Button>;
  if (codes) {
    return (
      <Section title="Setup">
        <RecoveryCodesShown codes={codes} email={email} onKept={finish} />
      </Section>
    );
  }
  return (
    <Section
      title="Setup"
      actions={
        arePasskeysOffered() && (
          <Button onClick={() => setByPasskey(!byPasskey)}>
            {byPasskey ? 'Use an app instead' : 'Use a passkey instead'}
          </Button>
        )
      }
    >
      {byPasskey ? (
        <AddPasskey
          factor={factor}
          actions={leave}
          onAdded={async (_, added) => (added.length > 0 ? setCodes(added) : finish())}
        />
      ) : (
        <Enrolment email={email} factor={factor} actions={leave} onDone={finish} />
      )}
    </Section>
  );
}
