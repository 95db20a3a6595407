import styles from './account.module.css';

/** The domain by which a search has found an install, where nothing else that is shown holds what was typed. */
export function FoundBy({ name }: { name: string | null }) {
  return name === null ? null : <span className={styles.soft}>Also {name}</span>;
}
