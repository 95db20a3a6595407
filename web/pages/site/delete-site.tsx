import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import type { ChangedSite } from '../../api/sites.ts';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { byEnvironment, environmentLabel } from '../../components/environments.ts';
import { showSuccess } from '../../components/toast.tsx';

/** Deletes a site and its installs after the user has typed its name. */
export function DeleteSiteDialog({
  site,
  open,
  onClose,
  onDeleted,
}: {
  site: ChangedSite;
  open: boolean;
  onClose(): void;
  onDeleted?: (() => void) | undefined;
}) {
  const queries = useQueryClient();

  async function remove() {
    await unwrapEmpty(hosting.DELETE('/sites/{site_id}', { params: { path: { site_id: site.id } } }));
    showSuccess(`Deleted the site ${site.name}.`);
    onDeleted?.();
    for (const topic of ['site', 'install']) void queries.invalidateQueries({ queryKey: [topic] });
  }

  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Delete ${site.name}?`}
      description={<DeletionSummary site={site} />}
      name={site.name}
      confirmLabel="Delete site"
      onConfirm={remove}
    />
  );
}

function DeletionSummary({ site: { installs } }: { site: ChangedSite }) {
  if (installs.length === 0) return <p>This site has no installs.</p>;
  return (
    <>
      <p>
        This takes {installs.length === 1 ? 'this website' : 'these websites'} offline immediately, and
        deletes the files, databases and domains after a last backup:
      </p>
      <ul>
        {byEnvironment(installs).map(({ id, name, environment }) => (
          <li key={id}>
            {name} ({environmentLabel(environment)})
          </li>
        ))}
      </ul>
      <p>As long as the backups are kept, you can restore each install from the list of installs.</p>
    </>
  );
}
