import type { ReactNode } from 'react';
import styles from './sign-in.module.css';

/** What a page on the way to signing in is about. */
export function Card({ children }: { children: ReactNode }) {
  return <div className={styles.card}>{children}</div>;
}

/** What else can be done there. */
export function CardLinks({ children }: { children: ReactNode }) {
  return <div className={styles.other}>{children}</div>;
}
