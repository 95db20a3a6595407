import type { ReactNode, Ref } from 'react';
import { errorMessage } from '../api/failure.ts';
import { Button } from './button.tsx';
import styles from './notice.module.css';

export type Tone = 'plain' | 'good' | 'busy' | 'bad';

const toned = (base: string | undefined, tone: Tone) =>
  [base, tone !== 'plain' && styles[tone]].filter(Boolean).join(' ');

/** A highlighted message. Use `role="alert"` for an event that just happened. With a `ref` it can take the focus. */
export function Notice({
  tone = 'plain',
  title,
  role,
  id,
  ref,
  children,
}: {
  tone?: Tone;
  title?: string;
  id?: string;
  ref?: Ref<HTMLDivElement>;
  role?: 'alert' | 'status';
  children: ReactNode;
}) {
  return (
    <div id={id} ref={ref} className={toned(styles.notice, tone)} role={role} tabIndex={ref ? -1 : undefined}>
      {title !== undefined && <strong>{title}</strong>}
      <div>{children}</div>
    </div>
  );
}

/** A state in a word or two, after a dot. The colour adds no information. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={toned(styles.badge, tone)}>{children}</span>;
}

/** A property in a word or two: what something is, not how it is doing. */
export function Tag({ tone = 'plain', children }: { tone?: 'plain' | 'bad'; children: ReactNode }) {
  return <span className={toned(styles.tag, tone)}>{children}</span>;
}

/** A progress bar of unknown duration. */
export function ProgressBar({ label }: { label: string }) {
  return <div className={styles.bar} role="progressbar" aria-label={label} />;
}

/** The error of a failed load, with a Try again button. `sentence` says what could not be loaded, if that is only a part of the page. */
export function LoadFailure({
  error,
  sentence,
  onRetry,
}: {
  error: unknown;
  sentence?: string;
  onRetry?: () => void;
}) {
  return (
    <Notice tone="bad" role="alert">
      <p>
        {sentence !== undefined && `${sentence} `}
        {errorMessage(error)}
      </p>
      {onRetry && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </Notice>
  );
}
