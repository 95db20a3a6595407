import { focusManager } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { CopyButton } from '../../../components/copy.tsx';
import { CheckboxField } from '../../../components/fields.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { Form } from '../../../components/form.tsx';
import { useLeaveReason } from '../../../components/leave-reasons.ts';
import { Notice } from '../../../components/notice.tsx';
import { TextDownload } from '../../../components/text-download.tsx';
import { recoveryCodesFile } from './recovery-codes.ts';
import styles from './security.module.css';

/** Shows new recovery codes once. Users continue by confirming that they saved them. */
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
  useLeaveReason(
    'The recovery codes are not shown again. Without them, you cannot sign in if you lose your phone.',
  );
  useNoRefetchOnFocus();
  const file = recoveryCodesFile(codes, { email, host: new URL(document.baseURI).host });
  return (
    <div className={styles.steps}>
      <h3 ref={heading} tabIndex={-1} className={styles.heading}>
        Your recovery codes
      </h3>
      <Notice tone="busy">
        Each code lets you sign in once without the app or a passkey. The codes are not shown again, so save
        them now in a safe place.
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
          Download as file
        </TextDownload>
      </div>
      <Form submitLabel="Continue" disabled={!kept} onSubmit={onKept}>
        <CheckboxField
          label="I have saved the codes"
          name="kept"
          hint="Required to continue."
          checked={kept}
          onChange={(event) => setKept(event.currentTarget.checked)}
        />
      </Form>
    </div>
  );
}

/**
 * Prevents a reload of the session when the user returns to this window. The session has the second factor by now, so
 * the next page would replace the codes.
 */
function useNoRefetchOnFocus(): void {
  useEffect(() => {
    focusManager.setFocused(false);
    return () => focusManager.setFocused(undefined);
  }, []);
}
