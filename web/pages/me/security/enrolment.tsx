import { lazy, type ReactNode, Suspense, useState } from 'react';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { SecondFactor } from '../../../api/me.ts';
import { CodeField } from '../../../components/code-field.tsx';
import { Copyable } from '../../../components/copy.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { ProgressBar } from '../../../components/notice.tsx';
import { type Identity, IdentityForm } from './identity-form.tsx';
import { RecoveryCodesShown } from './recovery-codes-shown.tsx';
import styles from './security.module.css';

const QrCode = lazy(() => import('./qr-code.tsx'));

type Step =
  | { at: 'identity' }
  | { at: 'app'; secret: string; uri: string }
  | { at: 'codes'; codes: readonly string[] };

/**
 * Sets up one-time codes: password or passkey, first code, recovery codes. Calls `onDone` once the user has saved the codes.
 */
export function Enrolment({
  email,
  factor,
  actions,
  onDone,
}: {
  email: string;
  factor: SecondFactor;
  /** Shown beside the submit button until the second factor is on. */
  actions?: ReactNode;
  onDone(): Promise<void>;
}) {
  const [step, setStep] = useState<Step>({ at: 'identity' });

  async function begin(body: Identity) {
    const begun = await unwrap(portal.POST('/portal/api/second_factor/enrolment', { body }));
    setStep({ at: 'app', ...begun });
  }

  async function confirm(values: FormData) {
    const body = { code: textOf(values, 'code') };
    const confirmed = await unwrap(portal.POST('/portal/api/second_factor', { body }));
    setStep({ at: 'codes', codes: confirmed.recovery_codes });
  }

  switch (step.at) {
    case 'identity':
      return <IdentityForm factor={factor} submitLabel="Continue" onIdentity={begin} actions={actions} />;
    case 'app':
      return (
        <div className={styles.steps}>
          <p>
            Scan this QR code with an authenticator app, such as Aegis, 2FAS, Google Authenticator or a
            password manager:
          </p>
          <Suspense fallback={<ProgressBar label="Drawing the QR code" />}>
            <QrCode
              text={step.uri}
              label="QR code for an authenticator app. The secret below is equivalent."
            />
          </Suspense>
          <p className={styles.phone}>
            <a href={step.uri}>Open an authenticator app on this device</a>
          </p>
          <p>If you cannot scan it, enter this secret in the app:</p>
          <Copyable text={step.secret} what="the secret" />
          <Form key="code" submitLabel="Turn on" onSubmit={confirm} actions={actions}>
            <CodeField hint="The code that the app shows now. It confirms the setup." />
          </Form>
        </div>
      );
    case 'codes':
      return <RecoveryCodesShown codes={step.codes} email={email} onKept={onDone} />;
  }
}
