import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { hosting } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess, showUndo } from '../../../components/toast.tsx';
import { undoDeletion } from '../../account/restore-deleted.ts';

/** Deletes an install after the user has typed its name. */
export function DeleteInstall({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  const [, go] = useLocation();
  const queries = useQueryClient();

  async function remove() {
    await unwrapEmpty(
      hosting.DELETE('/installs/{install_id}', { params: { path: { install_id: install.id } } }),
    );
    showUndo(`Deleted ${install.name}. Undo restores its last backup.`, () => {
      showSuccess(`Restoring ${install.name} as soon as its last backup is made.`);
      void undoDeletion(queries, install.account.id, install);
    });
    go(install.site ? `/sites/${install.site.id}` : `/accounts/${install.account.id}/installs`);
    queries.removeQueries({ queryKey: ['install', install.id] });
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['site'] }),
      queries.invalidateQueries({ queryKey: ['install', install.account.id] }),
    ]);
  }

  return (
    <Section
      title="Delete"
      actions={
        <Button variant="danger" onClick={() => setOpen(true)}>
          Delete {install.name}
        </Button>
      }
    >
      <p>
        Deletes the website with its domains. As long as its backups are kept, you can restore it from the
        list of installs.
      </p>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Delete ${install.name}`}
        description={
          <p>
            The website {install.primary_domain} goes offline immediately. After a last backup, its files and
            database are deleted.
          </p>
        }
        name={install.name}
        confirmLabel="Delete install"
        onConfirm={remove}
      />
    </Section>
  );
}
