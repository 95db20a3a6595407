import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { hosting } from '../../../api/client.ts';
import { unwrapEmpty } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';

/** Deletes a website with all that belongs to it, once its name has been typed. */
export function DeleteInstall({ install }: { install: Install }) {
  const [open, setOpen] = useState(false);
  const [, go] = useLocation();
  const queries = useQueryClient();

  async function remove() {
    await unwrapEmpty(
      hosting.DELETE('/installs/{install_id}', { params: { path: { install_id: install.id } } }),
    );
    showSuccess(`${install.name} is deleted.`);
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
        Its files, its database, its domains with their certificates and all its backups are deleted with it.
        Nobody can bring them back.
      </p>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Delete ${install.name}`}
        description={
          <p>
            The website {install.primary_domain} ends at once. Its files, its database, its domains and all
            its backups are deleted, and cannot be brought back.
          </p>
        }
        name={install.name}
        confirmLabel="Delete the install"
        onConfirm={remove}
      />
    </Section>
  );
}
