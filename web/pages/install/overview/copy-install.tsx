import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { CheckboxField } from '../../../components/fields.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { type Target, TargetForm } from '../backups/target-form.tsx';

/** Copies an install into another one: production to staging, or the other way round. */
export function CopyInstall({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState<{ target: Target; keepBackup: boolean } | null>(null);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function copyInto(into: Target, keepBackup: boolean) {
    await unwrap(
      portal.POST('/portal/api/installs/{install_id}/copy', {
        params: { path: { install_id: install.id } },
        body: { into_install_id: into.id, keep_backup: keepBackup },
      }),
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['backup', install.id] }),
      queries.invalidateQueries({ queryKey: ['operation', install.id] }),
      queries.invalidateQueries({ queryKey: ['operation', into.id] }),
    ]);
    showSuccess(`Copying ${install.name} into ${into.name}.`);
    // The target shows the progress.
    go(`/installs/${into.id}`);
  }

  return (
    <Section title="Copy" actions={<Button onClick={() => setOpen(true)}>Copy to another install</Button>}>
      <p>
        Replaces the files and the database of another install, for example staging, with those of this one.
        The other install keeps its name and domains.
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Copy ${install.name}`}
        description="Creates a backup of this install and restores it into the other. This website stays online."
      >
        <TargetForm
          install={install}
          label="Copy into"
          onChosen={(target, values) => {
            setOpen(false);
            setChosen({ target, keepBackup: values.get('keep_backup') !== null });
          }}
          onCancel={() => setOpen(false)}
        >
          <CheckboxField
            label={`Keep the backup of ${install.name}`}
            name="keep_backup"
            hint="Otherwise it is deleted after the copy."
          />
        </TargetForm>
      </Dialog>
      {chosen && (
        <ConfirmDialog
          open
          onOpenChange={(isOpen) => {
            if (!isOpen) setChosen(null);
          }}
          title={`Replace ${chosen.target.name}`}
          description={
            <p>
              This replaces the files and the database of {chosen.target.name} with those of {install.name}.
              The current content of {chosen.target.name} is lost.
            </p>
          }
          name={chosen.target.name}
          confirmLabel={`Replace ${chosen.target.name}`}
          onConfirm={() => copyInto(chosen.target, chosen.keepBackup)}
        />
      )}
    </Section>
  );
}
