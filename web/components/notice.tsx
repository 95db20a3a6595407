import type { ReactNode, Ref } from 'react';
import { errorMessage } from '../api/failure.ts';
import { Button } from './button.tsx';
import styles from './notice.module.css';

export type Tone = 'plain' | 'good' | 'busy' | 'bad';

const toned = (base: string | undefined, tone: Tone) =>
  [base, tone !== 'plain' && styles[tone]].filter(Boolean).join(' ');

/** Something a person should read. `role="alert"` where it has only just happened; with a `ref` it can take the focus. */
export function Notice({
  tone = 'plain',
  title,
  role,
  ref,
  children,
}: {
  tone?: Tone;
  title?: string;
  ref?: Ref<HTMLDivElement>;
  role?: 'alert' | 'status';
  children: ReactNode;
}) {
  return (
    <div ref={ref} className={toned(styles.notice, tone)} role={role} tabIndex={ref ? -1 : undefined}>
      {title !== undefined && <strong>{title}</strong>}
      <div>{children}</div>
    </div>
  );
}

/** A state in one word, and in a colour that says nothing which the word does not. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={toned(styles.badge, tone)}>{children}</span>;
}

/** Work is under way, nobody knows how long. */
export function ProgressBar({ label }: { label: string }) {
  return <div className={styles.bar} role="progressbar" aria-label={label} />;
}

/** What went wrong while something was loaded, with a way to try again. */
export function LoadFailure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <Notice tone="bad" role="alert">
      <p>{errorMessage(error)}</p>
      {onRetry && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </Notice>
  );
}
