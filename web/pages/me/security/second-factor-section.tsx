import { useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { portal } from '../../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../../api/failure.ts';
import { SECOND_FACTOR_KEY, SESSIONS_KEY, type SecondFactor, useSecondFactor } from '../../../api/me.ts';
import { SESSION_KEY } from '../../../api/query-keys.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge, Notice } from '../../../components/notice.tsx';
import { Facts, Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useSession } from '../../../session/session.ts';
import { Enrolment } from './enrolment.tsx';
import { type Factor, FactorForm } from './identity-form.tsx';
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
          factor={factor}
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
              onEnrol={() => setShown({ what: 'enrolment' })}
              onNewCodes={(codes) => setShown({ what: 'codes', codes })}
              onTurnedOff={() =>
                finish(
                  factor.passkeys > 0 ? 'Turned off codes from an app.' : 'Turned off the second factor.',
                )
              }
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
        <Badge>Off</Badge>
      </p>
      <p>
        Protect your account with a passkey, or with a code from an app on your phone in addition to your
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
  factor,
  onEnrol,
  onNewCodes,
  onTurnedOff,
}: {
  factor: SecondFactor;
  onEnrol(): void;
  onNewCodes(codes: readonly string[]): void;
  onTurnedOff(): Promise<void>;
}) {
  const [asking, setAsking] = useState<'renew' | 'remove' | null>(null);
  const { recovery_codes_left: left, required_by, one_time_codes: hasCodes, passkeys } = factor;
  // A passkey is enough for an account that requires a second factor.
  const required = required_by.length > 0 && passkeys === 0;

  async function renew(body: Factor) {
    const renewed = await unwrap(portal.POST('/portal/api/second_factor/recovery_codes', { body }));
    setAsking(null);
    onNewCodes(renewed.recovery_codes);
  }

  async function remove(body: Factor) {
    await unwrapEmpty(portal.POST('/portal/api/second_factor/removal', { body }));
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
          ['Codes from an app', hasCodes ? 'On' : 'Off'],
          ['Passkeys', passkeys === 0 ? 'None' : String(passkeys)],
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
        {!hasCodes && <Button onClick={onEnrol}>Turn on codes from an app</Button>}
        {hasCodes && !required && (
          <Button onClick={() => setAsking('remove')}>
            {passkeys > 0 ? 'Turn off codes from an app' : 'Turn off'}
          </Button>
        )}
      </div>
      <FactorDialog
        factor={factor}
        open={asking === 'renew'}
        title="New recovery codes"
        description="We create ten new codes. Your current codes stop working."
        submitLabel="Create new codes"
        onFactor={renew}
        onClose={() => setAsking(null)}
      />
      <FactorDialog
        factor={factor}
        open={asking === 'remove'}
        title={passkeys > 0 ? 'Turn off codes from an app' : 'Turn off the second factor'}
        description={
          passkeys > 0
            ? 'Codes from the app no longer work. Your passkeys and recovery codes stay.'
            : 'Afterwards you sign in with your password alone. Your recovery codes stop working.'
        }
        submitLabel="Turn off"
        danger
        onFactor={remove}
        onClose={() => setAsking(null)}
      />
    </>
  );
}

function FactorDialog({
  open,
  title,
  description,
  onClose,
  ...form
}: {
  open: boolean;
  title: string;
  description: string;
  onClose(): void;
} & ComponentProps<typeof FactorForm>) {
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title={title}
      description={description}
    >
      <FactorForm {...form} />
    </Dialog>
  );
}
