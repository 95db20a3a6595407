import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { hosting } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import type { Site } from '../../api/sites.ts';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { byEnvironment, environmentLabel } from '../../components/environments.ts';
import { showSuccess } from '../../components/toast.tsx';

/** Asks for the site's name before it and its installs are deleted. */
export function DeleteSiteDialog({ site, open, onClose }: { site: Site; open: boolean; onClose(): void }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();

  async function remove() {
    await unwrapEmpty(hosting.DELETE('/sites/{site_id}', { params: { path: { site_id: site.id } } }));
    showSuccess(`The site ${site.name} is deleted.`);
    navigate(`/accounts/${site.account.id}/sites`);
    for (const topic of ['site', 'install']) void queries.invalidateQueries({ queryKey: [topic] });
  }

  return (
    <ConfirmDialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Delete ${site.name}?`}
      description={<WhatGoes site={site} />}
      name={site.name}
      confirmLabel="Delete the site"
      onConfirm={remove}
    />
  );
}

function WhatGoes({ site: { installs } }: { site: Site }) {
  if (installs.length === 0) return <p>It has no installs. Only its name goes.</p>;
  return (
    <>
      <p>
        With it{' '}
        {installs.length === 1 ? 'goes this install, its website' : 'go these installs, their websites'},
        files, databases, domains and backups. This cannot be undone.
      </p>
      <ul>
        {byEnvironment(installs).map(({ id, name, environment }) => (
          <li key={id}>
            {name} ({environmentLabel(environment)})
          </li>
        ))}
      </ul>
    </>
  );
}
