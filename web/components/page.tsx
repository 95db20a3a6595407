import { Fragment, type ReactNode, useEffect, useId } from 'react';
import styles from './page.module.css';

/** The heading of the page. The portal shows one page at a time. */
const TITLE_ID = 'title';

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
          {/* Takes the focus when the focused element of the main section is removed (kept-focus.ts). */}
          <h1 id={TITLE_ID} tabIndex={-1}>
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

/** The section that the title of the page names. `intro` stands beside the actions. */
export function MainSection({
  title,
  intro,
  actions,
  children,
}: {
  /** Its own heading, if its items have headings. It is visible only below another section. */
  title?: string;
  intro?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  const id = useId();
  return (
    <section className={styles.section} aria-labelledby={title === undefined ? TITLE_ID : id}>
      {(title || intro || actions) && (
        <header className={styles.header}>
          {title !== undefined && (
            <h2 id={id} tabIndex={-1} className={styles.repeated}>
              {title}
            </h2>
          )}
          {intro && <div className={styles.intro}>{intro}</div>}
          {actions && <div className={styles.actions}>{actions}</div>}
        </header>
      )}
      {children}
    </section>
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
