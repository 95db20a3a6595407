import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Backup } from '../../../api/backups.ts';
import { useHas } from '../../../api/capabilities.ts';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { ListedInstall } from '../../../api/install-list.ts';
import type { Install } from '../../../api/installs.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { RadioGroup } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Time } from '../../../components/time.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { truncate } from '../../../components/truncate.ts';
import { hasDatabase, type Parts, partsLabel, type ReplacedInstall } from './replacement.ts';
import { ReplacementConfirmation } from './replacement-confirmation.tsx';
import { CheckpointField, PartsFields, readParts } from './replacement-fields.tsx';
import { TargetField, targetMissing } from './target-field.tsx';

/** The list shows the full description. */
const LONGEST_DESCRIPTION = 120;

interface Wanted {
  into: ReplacedInstall;
  parts: Parts;
  checkpoint: boolean;
}

/** Lets the user choose what to restore and where, and says what is replaced before it begins. */
export function RestoreBackup({
  install,
  backup,
  onClose,
}: {
  install: Install;
  backup: Backup;
  onClose(): void;
}) {
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const described = truncate(backup.description, LONGEST_DESCRIPTION);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function restore({ into, parts, checkpoint }: Wanted) {
    const { operation_id } = await unwrap(
      portal.POST('/portal/api/installs/{install_id}/backups/{backup_id}/restore', {
        params: { path: { install_id: install.id, backup_id: backup.id } },
        body: {
          into_install_id: into.id === install.id ? null : into.id,
          restore_files: parts.files,
          restore_database: parts.database,
          create_checkpoint: checkpoint,
        },
      }),
    );
    await Promise.all(
      ['operation', 'backup'].map((topic) => queries.invalidateQueries({ queryKey: [topic, into.id] })),
    );
    showOperation(operation_id, { busy: `Restoring ${into.name}.`, done: `Restored ${into.name}.` });
    // The target shows the progress.
    if (into.id !== install.id) go(`/installs/${into.id}/backups`);
  }

  return (
    <>
      <Dialog
        open={wanted === null}
        onOpenChange={(open) => {
          if (!open) onClose();
        }}
        title={`Restore "${described}"`}
        description={
          <>
            Backup of {install.name}, <Time at={backup.created_at} exact />. Nothing is replaced before you
            confirm it in the next step.
          </>
        }
      >
        <RestoreForm install={install} onWanted={setWanted} />
      </Dialog>
      {wanted && (
        <ReplacementConfirmation
          target={wanted.into}
          parts={wanted.parts}
          checkpoint={wanted.checkpoint}
          confirmLabel={`Restore ${wanted.into.name}`}
          onConfirm={() => restore(wanted)}
          onClose={onClose}
        >
          This replaces {partsLabel(wanted.parts, install)} of {wanted.into.name} with the backup "{described}
          ".{' '}
          {wanted.into.id === install.id
            ? 'Later changes are lost.'
            : `The present content of ${wanted.into.name} is lost.`}
        </ReplacementConfirmation>
      )}
    </>
  );
}

function RestoreForm({ install, onWanted }: { install: Install; onWanted(wanted: Wanted): void }) {
  const [isElsewhere, setIsElsewhere] = useState(false);
  const [target, setTarget] = useState<ListedInstall | null>(null);
  const into = isElsewhere ? target : install;
  const has = useHas(install.id);
  const isIncomplete = !isElsewhere && install.lost_data !== null;

  async function choose(values: FormData) {
    if (into === null) throw targetMissing();
    onWanted({ into, parts: readParts(values), checkpoint: values.has('checkpoint') });
  }

  return (
    <Form submitLabel="Continue" onSubmit={choose}>
      {hasDatabase(install) && has('backup_parts') && <PartsFields label="What to restore" />}
      <RadioGroup
        label="Restore into"
        name="where"
        value={isElsewhere ? 'elsewhere' : 'here'}
        onValue={(value) => setIsElsewhere(value === 'elsewhere')}
        options={[
          { value: 'here', label: `${install.name}, where it was made` },
          { value: 'elsewhere', label: 'Another install' },
        ]}
      />
      {isElsewhere && (
        <TargetField label="Install to replace" source={install} chosen={target} onChange={setTarget} />
      )}
      <CheckpointField
        key={into?.id}
        target={into?.name ?? 'it'}
        defaultChecked={!isIncomplete}
        hint={
          isIncomplete
            ? 'Data of the website is missing, so it may be too damaged to be backed up. The restore then fails, and replaces nothing.'
            : 'Keeps the present state for 14 days, and puts it back if the restore fails. Switch it off only if the website is too damaged to be backed up.'
        }
      />
    </Form>
  );
}
