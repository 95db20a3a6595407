import styles from './account.module.css';

/** The number of rows in a list. Screen readers announce changes. */
export function ShownCount({ shown, total, noun }: { shown: number; total: number; noun: string }) {
  const all = `${total} ${noun}${total === 1 ? '' : 's'}`;
  return (
    <p className={styles.soft} role="status">
      {shown === total ? all : `${shown} of ${all}`}
    </p>
  );
}
