import type { ComponentProps, MouseEvent, ReactNode } from 'react';
import { Link } from 'wouter';
import styles from './button.module.css';

interface Looks {
  /** `primary`: what the page is for, once a page; `danger`: what cannot be undone; `quiet`: beside other things. */
  variant?: 'primary' | 'danger' | 'quiet' | undefined;
  small?: boolean | undefined;
}

function classOf({ variant, small }: Looks): string {
  return [styles.button, variant && styles[variant], small && styles.small].filter(Boolean).join(' ');
}

/**
 * A button. While `pending` it says so and takes no second press. One that takes none keeps its place in the order of the keyboard,
 * and the focus: the browser's own `disabled` would lose it.
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
}: ComponentProps<'button'> & Looks & { pending?: boolean }) {
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

/** Of a form's button this is its submission too, also by Enter in a field. */
function ignore(event: MouseEvent): void {
  event.preventDefault();
}

/** A link to another page of the portal that looks like a button. */
export function ButtonLink({
  href,
  variant,
  small,
  children,
}: { href: string; children: ReactNode } & Looks) {
  return (
    <Link href={href} className={classOf({ variant, small })}>
      {children}
    </Link>
  );
}

/** A link to a file, which the browser downloads. */
export function DownloadLink({
  href,
  name,
  small,
  children,
}: { href: string; name?: string; children: ReactNode } & Looks) {
  return (
    <a href={href} download={name ?? true} className={classOf({ small })}>
      {children}
    </a>
  );
}
