import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { portal } from '../../../api/client.ts';
import { unwrap, unwrapEmpty } from '../../../api/failure.ts';
import { SECOND_FACTOR_KEY, SESSIONS_KEY, type SecondFactor, useSecondFactor } from '../../../api/me.ts';
import { SESSION_KEY } from '../../../api/queries.ts';
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
import { accountsInWords } from './required-by.ts';
import styles from './security.module.css';

const FEW_CODES = 3;

/** Whether a code is asked for besides the password, and all that can be done about it. */
export function SecondFactorSection() {
  const factor = useSecondFactor();
  return (
    <Section title="Second factor">
      <Loaded query={factor} what="your second factor">
        {(standing) => <Standing standing={standing} />}
      </Loaded>
    </Section>
  );
}

type Shown = { what: 'standing' } | { what: 'enrolment' } | { what: 'codes'; codes: readonly string[] };

function Standing({ standing }: { standing: SecondFactor }) {
  const { user } = useSession();
  const queries = useQueryClient();
  const [shown, setShown] = useState<Shown>({ what: 'standing' });
  const place = useRef<HTMLDivElement>(null);

  function goBack() {
    // It has to be there again before it can take the focus.
    flushSync(() => setShown({ what: 'standing' }));
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
          onDone={() => finish('The second factor is switched on.')}
        />
      );
    case 'codes':
      return (
        <RecoveryCodesShown
          codes={shown.codes}
          email={user.email}
          onKept={() => finish('Your new recovery codes work; the earlier ones do not any more.')}
        />
      );
    case 'standing':
      return (
        <div ref={place} tabIndex={-1} className={styles.steps}>
          {standing.enabled ? (
            <SwitchedOn
              standing={standing}
              onNewCodes={(codes) => setShown({ what: 'codes', codes })}
              onSwitchedOff={() => finish('The second factor is switched off.')}
            />
          ) : (
            <SwitchedOff onEnrol={() => setShown({ what: 'enrolment' })} />
          )}
        </div>
      );
  }
}

function SwitchedOff({ onEnrol }: { onEnrol(): void }) {
  return (
    <>
      <p>
        <Badge>Off</Badge> With it nobody signs in with your password alone: a code from an app on your
        telephone is asked for too.
      </p>
      <div>
        <Button variant="primary" onClick={onEnrol}>
          Switch on the second factor
        </Button>
      </div>
    </>
  );
}

function SwitchedOn({
  standing: { recovery_codes_left: left, required_by },
  onNewCodes,
  onSwitchedOff,
}: {
  standing: SecondFactor;
  onNewCodes(codes: readonly string[]): void;
  onSwitchedOff(): Promise<void>;
}) {
  const [asking, setAsking] = useState<'renew' | 'remove' | null>(null);
  const demanded = required_by.length > 0;

  async function renew(code: string) {
    const body = { code };
    const renewed = await unwrap(portal.POST('/portal/api/second_factor/recovery_codes', { body }));
    setAsking(null);
    onNewCodes(renewed.recovery_codes);
  }

  async function remove(code: string) {
    await unwrapEmpty(portal.POST('/portal/api/second_factor/removal', { body: { code } }));
    setAsking(null);
    await onSwitchedOff();
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
          ['Recovery codes', left === 1 ? '1 of 10 is left' : `${left} of 10 are left`],
        ]}
      />
      {left <= FEW_CODES && (
        <Notice tone="busy">
          Few recovery codes are left. Make new ones, so that you can sign in when you have lost your
          telephone.
        </Notice>
      )}
      {demanded && (
        <p>
          {accountsInWords(required_by)} asks everybody for a second factor, so it cannot be switched off.
        </p>
      )}
      <div className={styles.buttons}>
        <Button onClick={() => setAsking('renew')}>New recovery codes</Button>
        {!demanded && <Button onClick={() => setAsking('remove')}>Switch off</Button>}
      </div>
      <CodeDialog
        open={asking === 'renew'}
        title="New recovery codes"
        description="Ten new ones are made; the ones that you have now stop working."
        submitLabel="Make new codes"
        onCode={renew}
        onClose={() => setAsking(null)}
      />
      <CodeDialog
        open={asking === 'remove'}
        title="Switch off the second factor"
        description="From then on your password alone is enough to sign in. Your recovery codes stop working."
        submitLabel="Switch off"
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
          hint="The six digits of your app, or one of your recovery codes."
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
