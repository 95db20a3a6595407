import { displayName } from '../../components/display-name.ts';
import { Notice } from '../../components/notice.tsx';
import styles from './account.module.css';

/** The domain by which a search has found an install, where nothing else that is shown holds what was typed. */
export function MatchedDomain({ name }: { name: string | null }) {
  return name === null ? null : <span className={styles.soft}>Also {displayName(name)}</span>;
}

/** Why a search may lack what is found by its domain alone. */
export function DomainSearchUnavailable() {
  return (
    <Notice tone="bad" role="status">
      Domains cannot be searched just now; names and first domains are. Change the search to try again.
    </Notice>
  );
}
