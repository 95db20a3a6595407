import styles from './account.module.css';

/** How many rows of a list are shown; told to those who do not see it as they search. */
export function ShownCount({ shown, total, thing }: { shown: number; total: number; thing: string }) {
  const all = `${total} ${thing}${total === 1 ? '' : 's'}`;
  return (
    <p className={styles.soft} role="status">
      {shown === total ? all : `${shown} of ${all}`}
    </p>
  );
}
