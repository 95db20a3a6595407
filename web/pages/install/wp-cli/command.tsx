import { useState } from 'react';
import { isUnderWay, type Operation, useOperation } from '../../../api/operations.ts';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge, ProgressBar } from '../../../components/notice.tsx';
import { Time } from '../../../components/time.tsx';
import { CancelOperation } from '../operations/cancel-operation.tsx';
import { operationState, stateSince } from '../operations/operation-labels.ts';
import styles from './wp-cli.module.css';

/** A command of WP-CLI with its state, and its output on demand. A command of this page shows its line, and its output at once. */
export function Command({ operation, line }: { operation: Operation; line: string | undefined }) {
  const [isOpen, setOpen] = useState(line !== undefined);
  const { word, tone } = operationState(operation);
  const exitStatus = operation.result?.exit_status;
  // Without its arguments, which the server has deleted.
  const words = operation.result?.command;
  return (
    <li className={styles.command}>
      <div className={styles.line}>
        <CommandName line={line} words={words} />
        <span aria-live="polite">
          {exitStatus === undefined ? (
            <Badge tone={tone}>{word}</Badge>
          ) : (
            <Badge tone={exitStatus === '0' ? 'good' : 'bad'}>Exit status {exitStatus}</Badge>
          )}
        </span>
        <span className={styles.soft}>
          <Time at={stateSince(operation)} />
        </span>
        {operation.cancellable && <CancelOperation operation={operation} />}
      </div>
      {operation.error !== null && <p>{operation.error.message}</p>}
      {operation.error?.advice && <p>{operation.error.advice}</p>}
      {isUnderWay(operation) && line !== undefined && <ProgressBar label="Running WP-CLI" />}
      {operation.status === 'succeeded' && (
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Output</summary>
          {isOpen && <Output operationId={operation.id} />}
        </details>
      )}
    </li>
  );
}

function CommandName({ line, words }: { line: string | undefined; words: string | undefined }) {
  if (line !== undefined) return <code className={styles.text}>wp {line.replace(/^wp\s+/, '')}</code>;
  return words === undefined ? (
    <span>WP-CLI command</span>
  ) : (
    <code className={styles.text}>wp {words} …</code>
  );
}

function Output({ operationId }: { operationId: string }) {
  const query = useOperation(operationId);
  return (
    <Loaded query={query} what="the output">
      {({ result }) => {
        const { stdout, stderr, stdout_truncated, stderr_truncated } = result ?? {};
        if (stdout === undefined || stderr === undefined) {
          return <p className={styles.soft}>The output was kept for an hour, and is deleted.</p>;
        }
        if (stdout === '' && stderr === '')
          return <p className={styles.soft}>The command printed nothing.</p>;
        return (
          <div className={styles.output}>
            <Stream label="Standard output" text={stdout} isCut={stdout_truncated === 'true'} />
            <Stream label="Standard error" text={stderr} isCut={stderr_truncated === 'true'} />
          </div>
        );
      }}
    </Loaded>
  );
}

function Stream({ label, text, isCut }: { label: string; text: string; isCut: boolean }) {
  if (text === '') return null;
  return (
    <figure className={styles.stream}>
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre className={styles.pre} tabIndex={0}>
        {text}
      </pre>
      {isCut && <p className={styles.soft}>Only the first 256 KiB are shown.</p>}
    </figure>
  );
}
