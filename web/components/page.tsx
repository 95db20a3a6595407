import { Fragment, type ReactNode, useEffect, useId } from 'react';
import styles from './page.module.css';

/** A page. Its title is also the title of the window. */
export function Page({
  title,
  context,
  subtitle,
  actions,
  children,
}: {
  title: string;
  /** Name of what the page is a part of. */
  context?: string | undefined;
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${context === undefined ? '' : `${context}: `}${title} · Homeport`;
  }, [title, context]);
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div>
          <h1>
            {context !== undefined && <span className={styles.context}>{context}:</span>} {title}
          </h1>
          {subtitle !== undefined && <div className={styles.subtitle}>{subtitle}</div>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A section with a heading. */
export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={id}>
      <header className={styles.header}>
        {/* Takes the focus when the focused element is removed (kept-focus.ts). */}
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** A list of names with values. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** An empty state: says what appears here and how to add it. */
export function Empty({ children }: { children: ReactNode }) {
  return <div className={styles.empty}>{children}</div>;
}
