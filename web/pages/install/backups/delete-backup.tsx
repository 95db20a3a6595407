import { useQueryClient } from '@tanstack/react-query';
import type { Backup } from '../../../api/backups.ts';
import { hosting } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Time } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { truncate } from '../../../components/truncate.ts';
import styles from './backups.module.css';

const LONGEST_DESCRIPTION = 120;

/** Deletes a backup after confirmation, and the last one after the user has typed the name of the install. */
export function DeleteBackup({
  open,
  onOpenChange,
  install,
  backup,
  isLast,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  install: Install;
  backup: Backup;
  /** Whether no other backup can be restored. */
  isLast: boolean;
}) {
  const queries = useQueryClient();

  async function remove() {
    await unwrapEmpty(
      hosting.DELETE('/installs/{install_id}/backups/{backup_id}', {
        params: { path: { install_id: install.id, backup_id: backup.id } },
      }),
    );
    await Promise.all(
      ['backup', 'operation'].map((topic) => queries.invalidateQueries({ queryKey: [topic, install.id] })),
    );
    showSuccess('Deleted the backup.');
  }

  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Delete the backup?"
      description={
        <div className={styles.words}>
          <p>
            This deletes the backup "{truncate(backup.description, LONGEST_DESCRIPTION)}" of{' '}
            <Time at={backup.created_at} exact />. The website is not affected. You cannot undo this.
          </p>
          {isLast && (
            <p>
              It is the only completed backup of {install.name}. Without it you cannot return to an earlier
              state.
            </p>
          )}
        </div>
      }
      {...(isLast ? { name: install.name } : {})}
      confirmLabel="Delete backup"
      onConfirm={remove}
    />
  );
}
