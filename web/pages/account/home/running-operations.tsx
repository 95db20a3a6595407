import { Link } from 'wouter';
import { type AccountOperation, useRunningOperations } from '../../../api/operations.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { kindName, progressLabel } from '../../install/operations/operation-labels.ts';
import styles from './home.module.css';

/** The operations that run or wait in the whole account; empty without any. */
export function RunningOperations({ accountId }: { accountId: string }) {
  const operations = useRunningOperations(accountId);
  if (operations.isPending || operations.data?.count === 0) return null;
  return (
    <Section title="In progress">
      <Loaded query={operations} what="operations">
        {({ count, results }) => (
          <>
            <ul className={styles.list} aria-live="polite">
              {results.map((operation) => (
                <OperationLine key={operation.id} operation={operation} />
              ))}
            </ul>
            {count > results.length && <p className={styles.soft}>and {count - results.length} more</p>}
          </>
        )}
      </Loaded>
    </Section>
  );
}

function OperationLine({ operation }: { operation: AccountOperation }) {
  const { install, kind, status, created_at, started_at } = operation;
  const progress = progressLabel(operation);
  return (
    <li className={styles.item}>
      {install === null ? (
        <span className={styles.soft}>Account</span>
      ) : (
        <Link href={`/installs/${install.id}`} className={styles.name}>
          {install.name}
        </Link>
      )}
      <span className={styles.line}>
        {kindName(kind)}
        <Badge tone="busy">{status === 'running' ? 'In progress' : 'Waiting'}</Badge>
        <span className={styles.soft}>
          <Time at={started_at ?? created_at} />
          {progress !== null && `, ${progress}`}
        </span>
      </span>
    </li>
  );
}
