import type { ReactNode } from 'react';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { SecondFactor } from '../../../api/me.ts';
import { loadPasskeys } from '../../../passkeys/offered.ts';
import { IdentityForm } from './identity-form.tsx';
import { describeUserAgent } from './user-agent.ts';

/** Adds a passkey after the user has confirmed that it is them. `codes`: new recovery codes, if it is their first second factor. */
export function AddPasskey({
  factor,
  actions,
  onAdded,
}: {
  factor: SecondFactor;
  actions?: ReactNode;
  onAdded(name: string, codes: readonly string[]): Promise<void>;
}) {
  return (
    <IdentityForm
      factor={factor}
      submitLabel="Continue"
      actions={actions}
      onIdentity={async (body) => {
        const { createPasskey } = await loadPasskeys();
        const options = await unwrap(portal.POST('/portal/api/passkeys/options', { body }));
        const credential = await createPasskey(options);
        const name = describeUserAgent(navigator.userAgent);
        const added = await unwrap(portal.POST('/portal/api/passkeys', { body: { credential, name } }));
        await onAdded(added.passkey.name, added.recovery_codes);
      }}
    />
  );
}
