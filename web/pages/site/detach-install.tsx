import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import type { Site } from '../../api/sites.ts';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { type Environment, environmentLabel } from '../../components/environments.ts';
import { showSuccess } from '../../components/toast.tsx';

/** Asks before what fills a slot of the site is taken out of it. `slot`: undefined while nothing is asked. */
export function DetachInstallDialog({
  site,
  slot,
  onClose,
}: {
  site: Site;
  slot: Environment | undefined;
  onClose(): void;
}) {
  const queries = useQueryClient();
  const { install, environment } = useAsked(site, slot);

  async function detach() {
    if (!install) return;
    await unwrap(
      hosting.PATCH('/installs/{install_id}', {
        params: { path: { install_id: install.id } },
        body: { site_id: null, environment: null },
      }),
    );
    await Promise.all(['site', 'install'].map((topic) => queries.invalidateQueries({ queryKey: [topic] })));
    showSuccess(`${install.name} is in no site now. It goes on as it was.`);
  }

  return (
    <ConfirmDialog
      open={slot !== undefined}
      onOpenChange={(open) => open || onClose()}
      title={`Take ${install?.name ?? 'it'} out of ${site.name}?`}
      description={
        environment &&
        `It is not ${environmentLabel(environment)} any more then, and in no site. Nothing is deleted: the website goes on as it is, and can be moved here again.`
      }
      confirmLabel="Take it out"
      onConfirm={detach}
    />
  );
}

/** What is asked about, as it was when the question came up: it stands in its slot no more before the question is gone. */
function useAsked(site: Site, slot: Environment | undefined) {
  const asking = () => ({
    slot,
    environment: slot,
    install: site.installs.find(({ environment }) => environment === slot),
  });
  const [asked, setAsked] = useState(asking);
  if (asked.slot !== slot) setAsked(slot === undefined ? { ...asked, slot } : asking());
  return asked;
}
