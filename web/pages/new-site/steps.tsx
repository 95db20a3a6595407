import type { ReactNode } from 'react';
import { useFocusOnMount } from '../../components/focus-on-mount.ts';
import styles from './new-site.module.css';

export const STEPS = ['Name', 'Environment', 'Domain', 'Done'] as const;
export type Step = (typeof STEPS)[number];

/** The steps of the wizard, with the current one. Narrow screens show the numbers of the others. */
export function Steps({ current }: { current: Step }) {
  const at = STEPS.indexOf(current);
  return (
    <ol className={styles.steps} aria-label="Steps">
      {STEPS.map((step, index) => (
        <li key={step} aria-current={index === at ? 'step' : undefined} data-done={index < at || undefined}>
          <span>{step}</span>
          {index < at && <span className="visually-hidden">, done</span>}
        </li>
      ))}
    </ol>
  );
}

/** One step. Its heading gets the focus when it replaces another, so that screen readers announce it. */
export function StepContent({
  title,
  isFirst = false,
  children,
}: {
  title: string;
  isFirst?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={styles.step}>
      {isFirst ? <h2>{title}</h2> : <FocusedHeading title={title} />}
      {children}
    </section>
  );
}

function FocusedHeading({ title }: { title: string }) {
  const heading = useFocusOnMount<HTMLHeadingElement>();
  return (
    <h2 ref={heading} tabIndex={-1}>
      {title}
    </h2>
  );
}
