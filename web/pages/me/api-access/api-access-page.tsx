import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { portal } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import { CREDENTIALS_KEY, type Credential, useCredentials } from '../../../api/me.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Page, Section } from '../../../components/page.tsx';
import { useNow } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { credentialState } from './credential-labels.ts';
import { EndedCredentials, WorkingCredentials } from './credentials-table.tsx';
import { IssuedCredentialShown } from './issued-credential-shown.tsx';
import { type IssuedCredential, NewCredentialForm } from './new-credential-form.tsx';

type Making = { at: 'form' } | { at: 'issued'; issued: IssuedCredential };

export function ApiAccessPage() {
  const [making, setMaking] = useState<Making | null>(null);
  const opener = useRef<HTMLButtonElement>(null);

  function close() {
    // Renders the button before it takes the focus back.
    flushSync(() => setMaking(null));
    opener.current?.focus();
  }

  return (
    <Page
      title="API access"
      subtitle={
        <>
          Credentials let programs use the API on your behalf. See the{' '}
          <a href={new URL('docs', document.baseURI).href}>API documentation</a>.
        </>
      }
      actions={
        making === null ? (
          <Button ref={opener} variant="primary" onClick={() => setMaking({ at: 'form' })}>
            New credential
          </Button>
        ) : undefined
      }
    >
      {making !== null && (
        <Section title="New credential">
          {making.at === 'form' ? (
            <NewCredentialForm onIssued={(issued) => setMaking({ at: 'issued', issued })} onCancel={close} />
          ) : (
            <IssuedCredentialShown issued={making.issued} onKept={close} />
          )}
        </Section>
      )}
      <Credentials />
    </Page>
  );
}

function Credentials() {
  const credentials = useCredentials();
  const queries = useQueryClient();
  const now = useNow(60_000);
  const [revoking, setRevoking] = useState<Credential | null>(null);

  async function revoke() {
    if (revoking === null) return;
    const path = { credential_id: revoking.id };
    await unwrapEmpty(portal.DELETE('/portal/api/credentials/{credential_id}', { params: { path } }));
    await queries.invalidateQueries({ queryKey: CREDENTIALS_KEY });
    showSuccess(`Revoked the credential ${revoking.name}.`);
  }

  return (
    <>
      <Loaded query={credentials} what="your credentials">
        {(all) => {
          const working = all.filter((credential) => credentialState(credential, now) === 'working');
          const ended = all.filter((credential) => !working.includes(credential));
          return (
            <>
              <Section title="Your credentials">
                {working.length > 0 ? (
                  <WorkingCredentials credentials={working} onRevoke={setRevoking} />
                ) : (
                  <Empty>You have no credentials yet. Create one to use the API from a program.</Empty>
                )}
              </Section>
              {ended.length > 0 && (
                <Section title="Revoked and expired">
                  <EndedCredentials credentials={ended} />
                  <p>Listed for 30 days after they end.</p>
                </Section>
              )}
            </>
          );
        }}
      </Loaded>
      <ConfirmDialog
        open={revoking !== null}
        onOpenChange={(open) => !open && setRevoking(null)}
        title={`Revoke ${revoking?.name ?? ''}`}
        description="Programs that use this credential lose access immediately. You cannot undo this."
        confirmLabel="Revoke"
        onConfirm={revoke}
      />
    </>
  );
}
