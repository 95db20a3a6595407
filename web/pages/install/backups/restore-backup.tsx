import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Backup } from '../../../api/backups.ts';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { Time } from '../../../components/time.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { truncate } from '../../../components/truncate.ts';
import styles from './backups.module.css';
import { type Target, TargetForm } from './target-form.tsx';

/** The list shows the full description. */
const LONGEST_DESCRIPTION = 120;

/** Lets the user choose the install to restore into, and type its name before anything is replaced. */
export function RestoreBackup({
  install,
  backup,
  onClose,
  onBackupInstead,
}: {
  install: Install;
  backup: Backup;
  onClose(): void;
  onBackupInstead(): void;
}) {
  const [target, setTarget] = useState<Target | null>(null);
  const described = truncate(backup.description, LONGEST_DESCRIPTION);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function restore(into: Target) {
    await unwrap(
      portal.POST('/portal/api/installs/{install_id}/backups/{backup_id}/restore', {
        params: { path: { install_id: install.id, backup_id: backup.id } },
        body: { into_install_id: into.id === install.id ? null : into.id },
      }),
    );
    await queries.invalidateQueries({ queryKey: ['operation', into.id] });
    showSuccess(`Restoring ${into.name}.`);
    // The target shows the progress.
    if (into.id !== install.id) go(`/installs/${into.id}/backups`);
  }

  return (
    <>
      <Dialog
        open={target === null}
        onOpenChange={(open) => {
          if (!open) onClose();
        }}
        title={`Restore "${described}"`}
        description={
          <>
            Backup of <Time at={backup.created_at} exact />.
          </>
        }
      >
        <TargetForm
          install={install}
          label="Restore into"
          withItself
          onChosen={setTarget}
          onCancel={onClose}
        />
      </Dialog>
      {target && (
        <ConfirmDialog
          open
          onOpenChange={(open) => {
            if (!open) onClose();
          }}
          title={`Replace ${target.name}`}
          description={
            <div className={styles.words}>
              <p>
                This replaces the files and the database of {target.name} with the backup "{described}". Later
                changes are lost.
              </p>
              {target.id === install.id && (
                <p>
                  Consider a backup of the current state first.{' '}
                  <Button small onClick={onBackupInstead}>
                    Create backup first
                  </Button>
                </p>
              )}
            </div>
          }
          name={target.name}
          confirmLabel={`Restore ${target.name}`}
          onConfirm={() => restore(target)}
        />
      )}
    </>
  );
}
