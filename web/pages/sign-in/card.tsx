import type { ReactNode } from 'react';
import styles from './sign-in.module.css';

/** The main content of a sign-in page. */
export function Card({ children }: { children: ReactNode }) {
  return <div className={styles.card}>{children}</div>;
}

/** Other actions on a sign-in page. */
export function CardLinks({ children }: { children: ReactNode }) {
  return <div className={styles.other}>{children}</div>;
}
