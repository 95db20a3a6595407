import type { ReactNode } from 'react';
import type { PortalPaths } from '../../../api/client.ts';
import type { SecondFactor } from '../../../api/me.ts';
import { TextField } from '../../../components/fields.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { Form, textOf } from '../../../components/form.tsx';
import { arePasskeysOffered, loadPasskeys } from '../../../passkeys/offered.ts';
import { PasskeyButton } from '../../../passkeys/passkey-button.tsx';
import { usePasskeyAttempt } from '../../../passkeys/use-passkey-attempt.ts';
import styles from './security.module.css';

/** What confirms that it is the user. */
export type Identity =
  PortalPaths['/portal/api/passkeys/options']['post']['requestBody']['content']['application/json'];
/** A second factor that the user presents. */
export type Factor = Omit<Identity, 'password'>;

interface FormParts {
  submitLabel: string;
  danger?: boolean;
  /** Shown beside the submit button. */
  actions?: ReactNode;
}

/** Confirms that it is the user: by the second factor if they have one, otherwise by the password. */
export function IdentityForm({
  factor,
  onIdentity,
  ...parts
}: FormParts & { factor: SecondFactor; onIdentity(identity: Identity): Promise<void> }) {
  if (factor.enabled) return <FactorForm factor={factor} onFactor={onIdentity} {...parts} />;
  return (
    <Form isPrompt {...parts} onSubmit={(values) => onIdentity({ password: textOf(values, 'password') })}>
      <PasswordField />
    </Form>
  );
}

/** Asks for the second factor: a passkey if the user has one that works here, or a code. */
export function FactorForm({
  factor,
  onFactor,
  ...parts
}: FormParts & {
  factor: Pick<SecondFactor, 'passkeys' | 'one_time_codes'>;
  onFactor(factor: Factor): Promise<void>;
}) {
  const [attempt, run] = usePasskeyAttempt();
  const canUsePasskey = factor.passkeys > 0 && arePasskeysOffered();
  return (
    <div className={styles.steps}>
      {canUsePasskey && (
        <>
          <PasskeyButton
            primary
            label="Confirm with a passkey"
            attempt={attempt}
            onPress={() =>
              run(async () => {
                const { confirmByPasskey } = await loadPasskeys();
                await onFactor({ passkey: await confirmByPasskey() });
              })
            }
          />
          <p>Or enter a code:</p>
        </>
      )}
      <Form isPrompt {...parts} onSubmit={(values) => onFactor({ code: textOf(values, 'code') })}>
        <TextField
          label="Code"
          name="code"
          hint={
            factor.one_time_codes
              ? 'A six-digit code from your authenticator app, or a recovery code.'
              : 'One of your recovery codes.'
          }
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={64}
          required
        />
      </Form>
    </div>
  );
}

function PasswordField() {
  const input = useFocusOnMount<HTMLInputElement>();
  return (
    <TextField
      ref={input}
      label="Your password"
      name="password"
      type="password"
      autoComplete="current-password"
      hint="Confirms that it is you."
      required
    />
  );
}
