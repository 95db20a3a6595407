import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { portal } from '../../../api/client.ts';
import { answered } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/dialog.tsx';
import { Section } from '../../../components/page.tsx';
import { say } from '../../../components/toast.tsx';
import { type Target, TargetForm } from '../backups/target-form.tsx';

/** Makes another install what this one is: production as staging, to try something, or the other way round. */
export function CopyInstall({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  const [target, setTarget] = useState<Target | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const queries = useQueryClient();
  const [, go] = useLocation();

  async function copyInto(into: Target) {
    await answered(
      portal.POST('/portal/api/installs/{install_id}/copy', {
        params: { path: { install_id: install.id } },
        body: { into_install_id: into.id },
      }),
    );
    await queries.invalidateQueries({ queryKey: ['backup', install.id] });
    say(`${install.name} is being backed up, and is put into ${into.name} then.`);
    // How the first of the two fares is shown there.
    go(`/installs/${install.id}/backups`);
  }

  return (
    <Section
      title="Copy"
      actions={
        <Button ref={opener} onClick={() => setOpen(true)}>
          Copy into another install
        </Button>
      }
    >
      <p>
        Makes another install, a staging say, what this one is now. That one keeps its name and its domains.
      </p>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Copy ${install.name}`}
        description="A backup is made, which stays among the backups of this install, and put into the other."
      >
        <TargetForm
          install={install}
          label="Copy into"
          onChosen={(chosen) => {
            setOpen(false);
            setTarget(chosen);
          }}
          onCancel={() => setOpen(false)}
        />
      </Dialog>
      {target && (
        <ConfirmDialog
          open
          onOpenChange={(isOpen) => {
            if (isOpen) return;
            setTarget(null);
            // Two dialogs came one after the other; the second knows nothing of where the first was opened.
            requestAnimationFrame(() => opener.current?.focus());
          }}
          title={`Replace ${target.name}`}
          description={
            <p>
              The files and the database of {target.name} are replaced by those of {install.name}. What{' '}
              {target.name} has now is lost.
            </p>
          }
          name={target.name}
          confirmLabel={`Replace ${target.name}`}
          onConfirm={() => copyInto(target)}
        />
      )}
    </Section>
  );
}
