import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { portal } from '../../../../api/client.ts';
import { unwrap } from '../../../../api/failure.ts';
import type { Install } from '../../../../api/installs.ts';
import { Dialog } from '../../../../components/dialog.tsx';
import { Form } from '../../../../components/form.tsx';
import { showOperation } from '../../../../components/toast.tsx';
import { ReplacementConfirmation } from '../replacement-confirmation.tsx';
import { CheckpointField } from '../replacement-fields.tsx';
import styles from './browsing.module.css';
import { type Chosen, chosenLabel, outermost } from './chosen.ts';

/** The dialog names this many items. */
const MOST_NAMED = 8;

/** Says what a restore of selected items does, and begins it. */
export function RestoreChosen({
  install,
  backup,
  chosen,
  onRestored,
  onClose,
}: {
  install: Install;
  backup: { id: string; described: string };
  chosen: Chosen;
  onRestored(): void;
  onClose(): void;
}) {
  const [checkpoint, setCheckpoint] = useState<boolean | null>(null);
  const queries = useQueryClient();
  const paths = outermost(chosen.paths);
  const tables = [...chosen.tables];
  const items = [...paths, ...tables.map((name) => `table ${name}`)];

  async function restore() {
    const { operation_id } = await unwrap(
      portal.POST('/portal/api/installs/{install_id}/backups/{backup_id}/restore', {
        params: { path: { install_id: install.id, backup_id: backup.id } },
        body: { paths, db_tables: tables, create_checkpoint: checkpoint ?? true },
      }),
    );
    await Promise.all(
      ['operation', 'backup'].map((topic) => queries.invalidateQueries({ queryKey: [topic, install.id] })),
    );
    const what = chosenLabel({ paths: new Set(paths), tables: chosen.tables });
    showOperation(operation_id, { busy: `Restoring ${what}.`, done: `Restored ${what}.` });
    onRestored();
  }

  if (checkpoint === null) {
    return (
      <Dialog
        open
        onOpenChange={(open) => {
          if (!open) onClose();
        }}
        title="Restore selected"
        description={
          <>
            From the backup "{backup.described}" of {install.name}. Nothing is replaced before you confirm it
            in the next step.
          </>
        }
      >
        <ul className={styles.items}>
          {items.slice(0, MOST_NAMED).map((item) => (
            <li key={item}>{item}</li>
          ))}
          {items.length > MOST_NAMED && <li>and {items.length - MOST_NAMED} more</li>}
        </ul>
        <Form submitLabel="Continue" onSubmit={async (values) => setCheckpoint(values.has('checkpoint'))}>
          <CheckpointField
            target={install.name}
            hint="Keeps the present state for 14 days, and puts it back if the restore fails. Switch it off only if the website is too damaged to be backed up."
          />
        </Form>
      </Dialog>
    );
  }
  return (
    <ReplacementConfirmation
      target={install}
      parts={{ files: paths.length > 0, paths, database: tables.length > 0, tables }}
      checkpoint={checkpoint}
      confirmLabel="Restore selected"
      onConfirm={restore}
      onClose={onClose}
    >
      {paths.length > 0 &&
        'The selected files replace those of the same name. Folders get back the files that they had; files that were added since stay. '}
      {tables.length > 0 &&
        'The selected tables become exactly as they were; later changes to them are lost.'}
    </ReplacementConfirmation>
  );
}
