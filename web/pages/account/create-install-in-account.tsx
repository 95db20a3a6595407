import { type Site, useSites } from '../../api/sites.ts';
import { CreateInstallDialog } from '../site/create-install.tsx';

const NO_SITES: readonly Site[] = [];

/** The dialog that creates an install in one of the sites of an account, or without a site. */
export function CreateInstallInAccount({ accountId, onClose }: { accountId: string; onClose(): void }) {
  const { data: sites = NO_SITES } = useSites(accountId);
  return (
    <CreateInstallDialog
      accountId={accountId}
      sites={sites}
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    />
  );
}
