import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useHas } from '../../../api/capabilities.ts';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { ListedInstall } from '../../../api/install-list.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { CheckboxField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Section } from '../../../components/page.tsx';
import { showOperation } from '../../../components/toast.tsx';
import {
  EVERYTHING,
  hasDatabase,
  type Parts,
  partsLabel,
  type ReplacedInstall,
} from '../backups/replacement.ts';
import { ReplacementConfirmation } from '../backups/replacement-confirmation.tsx';
import { CheckpointField, PartsFields, readParts } from '../backups/replacement-fields.tsx';
import { TargetField, targetMissing } from '../backups/target-field.tsx';
import { WhyNotOffered } from '../offered.tsx';

interface Wanted {
  into: ReplacedInstall;
  parts: Parts;
  checkpoint: boolean;
  keepBackup: boolean;
}

/** Copies an install into another one: production to staging, or the other way round. */
export function CopyInstall({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState<Wanted | null>(null);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function copy({ into, parts, checkpoint, keepBackup }: Wanted) {
    const { operation_id } = await unwrap(
      portal.POST('/portal/api/installs/{install_id}/copy', {
        params: { path: { install_id: install.id } },
        body: {
          into_install_id: into.id,
          keep_backup: keepBackup,
          create_checkpoint: checkpoint,
          include_files: parts.files,
          include_db: parts.database,
          db_tables: [...parts.tables],
        },
      }),
    );
    await Promise.all(
      [install.id, into.id].flatMap((id) =>
        ['backup', 'operation'].map((topic) => queries.invalidateQueries({ queryKey: [topic, id] })),
      ),
    );
    showOperation(operation_id, {
      busy: `Copying ${install.name} into ${into.name}.`,
      done: `Copied ${install.name} into ${into.name}.`,
    });
    // The target shows the progress, and its checkpoint.
    go(`/installs/${into.id}/backups`);
  }

  return (
    <Section title="Copy" actions={<Button onClick={() => setOpen(true)}>Copy to another install</Button>}>
      <p>
        Replaces {partsLabel(EVERYTHING, install)} of another install, for example staging, with those of this
        one. The other install keeps its name and domains.
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Copy ${install.name}`}
        description="Creates a backup of this install and restores it into the other. This website stays online. Nothing is replaced before you confirm it in the next step."
      >
        <CopyForm
          install={install}
          onWanted={(chosen) => {
            setOpen(false);
            setWanted(chosen);
          }}
        />
      </Dialog>
      {wanted && (
        <ReplacementConfirmation
          target={wanted.into}
          parts={wanted.parts}
          checkpoint={wanted.checkpoint}
          confirmLabel={`Replace ${wanted.into.name}`}
          onConfirm={() => copy(wanted)}
          onClose={() => setWanted(null)}
        >
          This replaces {partsLabel(wanted.parts, install)} of {wanted.into.name} with those of {install.name}
          . Changes that are made to {wanted.into.name} until the copy ends are lost.
        </ReplacementConfirmation>
      )}
    </Section>
  );
}

function CopyForm({ install, onWanted }: { install: Install; onWanted(wanted: Wanted): void }) {
  const has = useHas(install.id);
  const [target, setTarget] = useState<ListedInstall | null>(null);

  async function choose(values: FormData) {
    if (target === null) throw targetMissing();
    onWanted({
      into: target,
      parts: readParts(values),
      checkpoint: values.has('checkpoint'),
      keepBackup: values.has('keep_backup'),
    });
  }

  return (
    <Form submitLabel="Continue" onSubmit={choose}>
      <TargetField label="Install to replace" source={install} chosen={target} onChange={setTarget} />
      {hasDatabase(install) && has('backup_parts') && (
        <PartsFields label="What to copy" withTables={has('backup_tables')} />
      )}
      {hasDatabase(install) && <WhyNotOffered installId={install.id} need="backup_tables" />}
      <CheckpointField
        target={target?.name ?? 'the install to replace'}
        hint="Keeps its present state for 14 days, and puts it back if the copy fails."
      />
      <CheckboxField
        label={`Keep the backup of ${install.name}`}
        name="keep_backup"
        hint="Otherwise it is deleted after the copy."
      />
    </Form>
  );
}
