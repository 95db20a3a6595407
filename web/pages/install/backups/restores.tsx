import { isRestorable } from '../../../api/backup-state.ts';
import { type Backup, useBackups } from '../../../api/backups.ts';
import { isUnderWay, type Operation, useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { ProgressBar } from '../../../components/notice.tsx';
import { Section } from '../../../components/page.tsx';
import { Time } from '../../../components/time.tsx';
import operationStyles from '../operations/operations.module.css';
import { OperationItem } from '../operations/operations.tsx';

const SHOWN = 3;

/**
 * Current and recent restores and copies into this install. A copy in progress also has a notice above the page. The
 * latest one offers its checkpoint. `onRestore` is null for users who cannot restore.
 */
export function Restores({
  installId,
  onRestore,
}: {
  installId: string;
  onRestore: ((checkpoint: Backup) => void) | null;
}) {
  const restores =
    useOperations(installId)
      .data?.results.filter(({ kind }) => kind === 'backup.restore' || kind === 'install.copy')
      .slice(0, SHOWN) ?? [];
  const checkpoint = useCheckpointOf(restores[0], installId);
  if (restores.length === 0) return null;
  return (
    <Section title="Restores and copies">
      {restores.some((one) => one.kind === 'backup.restore' && isUnderWay(one)) && (
        <ProgressBar label="Restoring a backup" />
      )}
      <ul className={operationStyles.list} aria-live="polite">
        {restores.map((operation) => (
          <OperationItem key={operation.id} operation={operation} />
        ))}
      </ul>
      {checkpoint && onRestore && (
        <p>
          The former state is in the checkpoint of <Time at={checkpoint.created_at} exact />.{' '}
          <Button small onClick={() => onRestore(checkpoint)}>
            Restore checkpoint
          </Button>
        </p>
      )}
    </Section>
  );
}

/** The checkpoint made before this operation, while it is among the latest backups. */
function useCheckpointOf(operation: Operation | undefined, installId: string): Backup | undefined {
  const { data } = useBackups(installId, 0);
  const id = operation?.result?.checkpoint_id;
  return data?.results.find((backup) => backup.id === id && isRestorable(backup));
}
