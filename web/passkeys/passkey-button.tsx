import { useLayoutEffect, useRef } from 'react';
import { Button } from '../components/button.tsx';
import { Notice } from '../components/notice.tsx';
import styles from './passkey-button.module.css';
import type { PasskeyAttempt } from './use-passkey-attempt.ts';

/** A button that asks for a passkey. An error appears above it and gets the focus. */
export function PasskeyButton({
  label,
  attempt: { pending, failure },
  primary = false,
  focused = false,
  onPress,
}: {
  label: string;
  attempt: PasskeyAttempt;
  primary?: boolean;
  /** Whether the button has the initial focus. */
  focused?: boolean;
  onPress(): void;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const notice = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    if (focused) button.current?.focus();
  }, [focused]);
  useLayoutEffect(() => {
    if (failure) notice.current?.focus();
  }, [failure]);

  return (
    <div className={styles.passkey}>
      {failure && (
        <Notice key={failure.number} ref={notice} tone="bad" role="alert">
          {failure.message}
        </Notice>
      )}
      <Button ref={button} variant={primary ? 'primary' : undefined} pending={pending} onClick={onPress}>
        {label}
      </Button>
    </div>
  );
}
