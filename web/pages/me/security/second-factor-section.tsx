import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { portal } from '../../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../../api/failure.ts';
import { SECOND_FACTOR_KEY, SESSIONS_KEY, type SecondFactor, useSecondFactor } from '../../../api/me.ts';
import { SESSION_KEY } from '../../../api/query-keys.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge, Notice } from '../../../components/notice.tsx';
import { Facts, Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useSession } from '../../../session/session.ts';
import { Enrolment } from './enrolment.tsx';
import { RecoveryCodesShown } from './recovery-codes-shown.tsx';
import { accountNames } from './required-by.ts';
import styles from './security.module.css';

const FEW_CODES = 3;

/** Turns the second factor on or off and renews its recovery codes. */
export function SecondFactorSection() {
  const factor = useSecondFactor();
  return (
    <Section title="Second factor">
      <Loaded query={factor} what="your second factor">
        {(loaded) => <FactorState factor={loaded} />}
      </Loaded>
    </Section>
  );
}

type Shown = { what: 'factor' } | { what: 'enrolment' } | { what: 'codes'; codes: readonly string[] };

function FactorState({ factor }: { factor: SecondFactor }) {
  const { user } = useSession();
  const queries = useQueryClient();
  const [shown, setShown] = useState<Shown>({ what: 'factor' });
  const place = useRef<HTMLDivElement>(null);

  function goBack() {
    // Renders the element before it takes the focus.
    flushSync(() => setShown({ what: 'factor' }));
    place.current?.focus();
  }

  async function finish(sentence: string) {
    await Promise.all(
      [SECOND_FACTOR_KEY, SESSIONS_KEY, SESSION_KEY].map((queryKey) =>
        queries.invalidateQueries({ queryKey }),
      ),
    );
    goBack();
    showSuccess(sentence);
  }

  switch (shown.what) {
    case 'enrolment':
      return (
        <Enrolment
          email={user.email}
          actions={<Button onClick={goBack}>Cancel</Button>}
          onDone={() => finish('Turned on the second factor.')}
        />
      );
    case 'codes':
      return (
        <RecoveryCodesShown
          codes={shown.codes}
          email={user.email}
          onKept={() => finish('Your new recovery codes are active. The old ones no longer work.')}
        />
      );
    case 'factor':
      return (
        <div ref={place} tabIndex={-1} className={styles.steps}>
          {factor.enabled ? (
            <TurnedOn
              factor={factor}
              onNewCodes={(codes) => setShown({ what: 'codes', codes })}
              onTurnedOff={() => finish('Turned off the second factor.')}
            />
          ) : (
            <TurnedOff onEnrol={() => setShown({ what: 'enrolment' })} />
          )}
        </div>
      );
  }
}

function TurnedOff({ onEnrol }: { onEnrol(): void }) {
  return (
    <>
      <p>
        <Badge>Off</Badge> Protect your account with a code from an app on your phone in addition to your
        password.
      </p>
      <div>
        <Button variant="primary" onClick={onEnrol}>
          Turn on second factor
        </Button>
      </div>
    </>
  );
}

function TurnedOn({
  factor: { recovery_codes_left: left, required_by },
  onNewCodes,
  onTurnedOff,
}: {
  factor: SecondFactor;
  onNewCodes(codes: readonly string[]): void;
  onTurnedOff(): Promise<void>;
}) {
  const [asking, setAsking] = useState<'renew' | 'remove' | null>(null);
  const required = required_by.length > 0;

  async function renew(code: string) {
    const body = { code };
    const renewed = await unwrap(portal.POST('/portal/api/second_factor/recovery_codes', { body }));
    setAsking(null);
    onNewCodes(renewed.recovery_codes);
  }

  async function remove(code: string) {
    await unwrapEmpty(portal.POST('/portal/api/second_factor/removal', { body: { code } }));
    setAsking(null);
    await onTurnedOff();
  }

  return (
    <>
      <Facts
        facts={[
          [
            'Second factor',
            <Badge key="on" tone="good">
              On
            </Badge>,
          ],
          ['Recovery codes', `${left} of 10 left`],
        ]}
      />
      {left <= FEW_CODES && (
        <Notice tone="busy">
          You have few recovery codes left. Create new ones so that you can sign in if you lose your phone.
        </Notice>
      )}
      {required && <p>{accountNames(required_by)} requires a second factor, so you cannot turn it off.</p>}
      <div className={styles.buttons}>
        <Button onClick={() => setAsking('renew')}>New recovery codes</Button>
        {!required && <Button onClick={() => setAsking('remove')}>Turn off</Button>}
      </div>
      <CodeDialog
        open={asking === 'renew'}
        title="New recovery codes"
        description="We create ten new codes. Your current codes stop working."
        submitLabel="Create new codes"
        onCode={renew}
        onClose={() => setAsking(null)}
      />
      <CodeDialog
        open={asking === 'remove'}
        title="Turn off the second factor"
        description="Afterwards you sign in with your password alone. Your recovery codes stop working."
        submitLabel="Turn off"
        danger
        onCode={remove}
        onClose={() => setAsking(null)}
      />
    </>
  );
}

function CodeDialog({
  open,
  title,
  description,
  submitLabel,
  danger = false,
  onCode,
  onClose,
}: {
  open: boolean;
  title: string;
  description: string;
  submitLabel: string;
  danger?: boolean;
  onCode(code: string): Promise<void>;
  onClose(): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={title}
      description={description}
    >
      <Form
        submitLabel={submitLabel}
        danger={danger}
        onSubmit={(values) => onCode(textOf(values, 'code'))}
        actions={<Button onClick={onClose}>Cancel</Button>}
      >
        <TextField
          label="Code"
          name="code"
          hint="A six-digit code from your authenticator app, or a recovery code."
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={64}
          required
        />
      </Form>
    </Dialog>
  );
}
