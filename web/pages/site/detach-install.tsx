import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Site } from '../../api/sites.ts';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { type Environment, environmentLabel } from '../../components/environments.ts';
import { moveWithUndo } from './move-with-undo.ts';

/** Asks before an install is detached from its site. The dialog is closed while `slot` is undefined. */
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
    await moveWithUndo(
      queries,
      install.id,
      { site_id: null, environment: null },
      (name) => `Detached ${name}. The website is not affected.`,
    );
  }

  return (
    <ConfirmDialog
      open={slot !== undefined}
      onOpenChange={(open) => open || onClose()}
      title={`Detach ${install?.name ?? 'the install'} from ${site.name}?`}
      description={
        environment &&
        `The install is no longer ${environmentLabel(environment)} of this site. Nothing is deleted, and the website is not affected. You can move it back.`
      }
      confirmLabel="Detach"
      onConfirm={detach}
    />
  );
}

/** Keeps what the dialog shows until it has closed. The install leaves its environment before that. */
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
