import { displayName } from '../../components/display-name.ts';
import { Notice } from '../../components/notice.tsx';
import styles from './account.module.css';

/** The domain by which a search found an install, if its row does not show that domain anyway. */
export function MatchedDomain({ name }: { name: string | null }) {
  return name === null ? null : <span className={styles.soft}>Also {displayName(name)}</span>;
}

/** Explains why search results may be missing. */
export function DomainSearchUnavailable() {
  return (
    <Notice tone="bad" role="status">
      Could not search domains. Results only match names and primary domains. Change the search to try again.
    </Notice>
  );
}
