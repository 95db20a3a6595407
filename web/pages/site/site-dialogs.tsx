import type { ChangedSite } from '../../api/sites.ts';
import { SiteTagsDialog } from '../tags/tag-dialogs.tsx';
import { DeleteSiteDialog } from './delete-site.tsx';
import { RenameSiteDialog } from './rename-site.tsx';
import { TransferSiteDialog } from './transfer-site.tsx';

/** An action on a site as a whole. */
export type SiteAction = 'rename' | 'tags' | 'transfer' | 'delete';

/** The dialogs that change a site as a whole. All are closed while `asked` is null. */
export function SiteDialogs({
  site,
  asked,
  onClose,
  onDeleted,
}: {
  site: ChangedSite;
  asked: SiteAction | null;
  onClose(): void;
  onDeleted?: () => void;
}) {
  return (
    <>
      <RenameSiteDialog site={site} open={asked === 'rename'} onClose={onClose} />
      <SiteTagsDialog site={site} open={asked === 'tags'} onClose={onClose} />
      <TransferSiteDialog site={site} open={asked === 'transfer'} onClose={onClose} />
      <DeleteSiteDialog site={site} open={asked === 'delete'} onClose={onClose} onDeleted={onDeleted} />
    </>
  );
}
