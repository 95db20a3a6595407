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

/** Makes another install what this one is: production as staging, to try something, or the other way round. */
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
    showSuccess(`${install.name} is being copied into ${into.name}.`);
    // How it fares is shown where it happens.
    go(`/installs/${into.id}`);
  }

  return (
    <Section title="Copy" actions={<Button onClick={() => setOpen(true)}>Copy into another install</Button>}>
      <p>
        Makes another install, a staging say, what this one is now. That one keeps its name and its domains.
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Copy ${install.name}`}
        description="A backup of this install is made and put into the other. This website goes on meanwhile."
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
            hint="Otherwise it is deleted when the copy has ended."
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
              The files and the database of {chosen.target.name} are replaced by those of {install.name}. What{' '}
              {chosen.target.name} has now is lost.
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
