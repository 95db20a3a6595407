import type { ComponentProps, MouseEvent, ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './button.module.css';

interface Appearance {
  /** `primary`: the main action, once on each page; `danger`: cannot be undone; `quiet`: secondary. */
  variant?: 'primary' | 'danger' | 'quiet' | undefined;
  small?: boolean | undefined;
}

function classOf({ variant, small }: Appearance): string {
  return [styles.button, variant && styles[variant], small && styles.small].filter(Boolean).join(' ');
}

/**
 * A button. While `pending` or `disabled` it ignores presses but keeps its focus and its place in the tab order,
 * which the native `disabled` attribute would lose.
 */
export function Button({
  variant,
  small,
  pending = false,
  disabled = false,
  onClick,
  children,
  type = 'button',
  ...rest
}: ComponentProps<'button'> & Appearance & { pending?: boolean }) {
  const idle = disabled || pending;
  return (
    <button
      {...rest}
      type={type}
      className={classOf({ variant, small })}
      onClick={idle ? ignore : onClick}
      aria-disabled={idle || undefined}
      aria-busy={pending || undefined}
    >
      {pending && <span className={styles.turning} aria-hidden="true" />}
      {children}
    </button>
  );
}

/** Also prevents the form from being submitted by this button or by Enter in a field. */
function ignore(event: MouseEvent): void {
  event.preventDefault();
}

/** A link to another page of the portal, styled as a button. */
export function ButtonLink({
  href,
  variant,
  small,
  label,
  children,
}: { href: string; label?: string; children: ReactNode } & Appearance) {
  return (
    <Link href={href} className={classOf({ variant, small })} aria-label={label}>
      {children}
    </Link>
  );
}

/** A link that downloads a file. */
export function DownloadLink({
  href,
  name,
  small,
  children,
}: { href: string; name?: string; children: ReactNode } & Appearance) {
  return (
    <a href={href} download={name ?? true} className={classOf({ small })}>
      {children}
    </a>
  );
}
