import { DomainName } from '../../components/domain-name.tsx';
import styles from './account.module.css';

/** The domain by which a search found an install; null if its row shows why anyway. */
export function MatchedDomain({ name }: { name: string | null }) {
  return name === null ? null : (
    <span className={styles.soft}>
      Also <DomainName name={name} />
    </span>
  );
}
