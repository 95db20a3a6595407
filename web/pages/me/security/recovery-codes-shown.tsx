import { focusManager } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { CopyButton } from '../../../components/copy.tsx';
import { CheckboxField } from '../../../components/fields.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { Form } from '../../../components/form.tsx';
import { LeaveConfirmation } from '../../../components/leave-confirmation.tsx';
import { Notice } from '../../../components/notice.tsx';
import { TextDownload } from '../../../components/text-download.tsx';
import { recoveryCodesFile } from './recovery-codes.ts';
import styles from './security.module.css';

/** New recovery codes, which are shown only this once: one goes on by saying that they are kept. */
export function RecoveryCodesShown({
  codes,
  email,
  onKept,
}: {
  codes: readonly string[];
  email: string;
  onKept(): Promise<void>;
}) {
  const [kept, setKept] = useState(false);
  const heading = useFocusOnMount<HTMLHeadingElement>();
  useStillness();
  const file = recoveryCodesFile(codes, { email, host: new URL(document.baseURI).host });
  return (
    <div className={styles.steps}>
      <h3 ref={heading} tabIndex={-1} className={styles.heading}>
        Your recovery codes
      </h3>
      <LeaveConfirmation description="The recovery codes are not shown again. Without them you do not get in when you have lost your telephone." />
      <Notice tone="busy">
        Each lets you sign in once when you do not have the app. They are not shown again: keep them now,
        where nobody else finds them.
      </Notice>
      <ol className={styles.codes} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className={styles.buttons}>
        <CopyButton text={codes.join('\n')} what="the recovery codes" />
        <TextDownload text={file} type="text/plain" name="homeport-recovery-codes.txt">
          Download as a file
        </TextDownload>
      </div>
      <Form submitLabel="Go on" disabled={!kept} onSubmit={onKept}>
        <CheckboxField
          label="I have kept them"
          name="kept"
          hint="Tick this to go on."
          checked={kept}
          onChange={(event) => setKept(event.currentTarget.checked)}
        />
      </Form>
    </div>
  );
}

/**
 * Nothing is loaded again just because somebody comes back from where they have put the codes down: the session says by now that
 * they are through, and the page with the codes would give way to what is next.
 */
function useStillness(): void {
  useEffect(() => {
    focusManager.setFocused(false);
    return () => focusManager.setFocused(undefined);
  }, []);
}
