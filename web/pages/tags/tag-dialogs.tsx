import { Suspense } from 'react';
import type { ChangedSite } from '../../api/sites.ts';
import { Dialog } from '../../components/dialog.tsx';
import { onDemand } from '../../components/on-demand.ts';
import type { Tagged } from './edit-tags.tsx';

/** The lists need this script only when someone edits tags. */
const load = () => import('./edit-tags.tsx');
const SelectionForm = onDemand(load, (module) => module.TagSelectionForm);
const SiteForm = onDemand(load, (module) => module.SiteTagsForm);
const TagList = onDemand(load, (module) => module.TagList);

/** Adds tags to the selected sites or installs, and removes others. */
export function TagSelectionDialog({
  open,
  onOpenChange,
  ...selection
}: {
  accountId: string;
  selected: Tagged;
  open: boolean;
  onOpenChange(open: boolean): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Tags"
      description={
        selection.selected.noun === 'install'
          ? 'Installs have the tags of their site, so the other installs of these sites change, too.'
          : 'The installs of a site have its tags.'
      }
    >
      <Suspense fallback={null}>
        <SelectionForm {...selection} onDone={() => onOpenChange(false)} />
      </Suspense>
    </Dialog>
  );
}

/** Changes the tags of one site. */
export function SiteTagsDialog({
  site,
  open,
  onClose,
}: {
  site: ChangedSite;
  open: boolean;
  onClose(): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Tags of ${site.name}`}
      description="Tags group sites in lists. The installs of the site have them, too."
    >
      <Suspense fallback={null}>
        <SiteForm site={site} onDone={onClose} />
      </Suspense>
    </Dialog>
  );
}

/** Renames and removes tags in all sites of an account. */
export function ManageTagsDialog({
  accountId,
  open,
  onOpenChange,
}: {
  accountId: string;
  open: boolean;
  onOpenChange(open: boolean): void;
}) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Manage tags"
      description="A change affects all sites with the tag."
    >
      <Suspense fallback={null}>
        <TagList accountId={accountId} />
      </Suspense>
    </Dialog>
  );
}
