import { useState } from 'react';
import { isUnderWay, type Operation, useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import { CancelOperation } from './cancel-operation.tsx';
import { copyStep, operationName, operationState, progressLabel, stateSince } from './operation-labels.ts';
import styles from './operations.module.css';
import { TryAgain } from './try-again.tsx';

const SHOWN_AT_FIRST = 8;

/** The current and recent operations of an install. */
export function Operations({ installId }: { installId: string }) {
  const query = useOperations(installId);
  return (
    <Loaded query={query} what="activity">
      {({ results }) => (
        <>
          <OperationList
            title="In progress"
            operations={results.filter(isUnderWay)}
            empty="Nothing in progress."
          />
          <OperationList
            title="Recent activity"
            operations={results.filter((operation) => !isUnderWay(operation))}
            empty="No recent activity."
          />
        </>
      )}
    </Loaded>
  );
}

function OperationList({
  title,
  operations,
  empty,
}: {
  title: string;
  operations: Operation[];
  empty: string;
}) {
  const [isAll, setIsAll] = useState(false);
  const shown = isAll ? operations : operations.slice(0, SHOWN_AT_FIRST);
  return (
    <Section title={title}>
      {operations.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <ul className={styles.list} aria-live="polite">
          {shown.map((operation) => (
            <OperationItem key={operation.id} operation={operation} />
          ))}
        </ul>
      )}
      {shown.length < operations.length && (
        <div>
          <Button small onClick={() => setIsAll(true)}>
            Show all {operations.length}
          </Button>
        </div>
      )}
    </Section>
  );
}

/** An operation with its state, time and progress, and after a failure the reason and what to do. */
export function OperationItem({ operation }: { operation: Operation }) {
  const { word, tone } = operationState(operation);
  const { error } = operation;
  const progress = isUnderWay(operation) ? progressLabel(operation) : null;
  const step = copyStep(operation);
  return (
    <li>
      <div className={styles.line}>
        <span>
          {operationName(operation)}
          {operation.kind === 'backup.restore' && operation.backup && (
            <>
              , created <Time at={operation.backup.created_at} exact />
            </>
          )}
        </span>
        <Badge tone={tone}>{word}</Badge>
        <span className={styles.since}>
          <Time at={stateSince(operation)} />
          {operation.attempt > 1 && `, attempt ${operation.attempt}`}
        </span>
        {operation.cancellable && <CancelOperation operation={operation} />}
        {operation.retryable && <TryAgain operationId={operation.id} what={operationName(operation)} />}
      </div>
      {step !== null && <p>{step}</p>}
      {progress !== null && <p>{progress}</p>}
      {operation.result?.left_out && <p>{operation.result.left_out}</p>}
      {step === null && error !== null && <p>{error.message}</p>}
      {error !== null && error.advice !== null && <p>{error.advice}</p>}
    </li>
  );
}
