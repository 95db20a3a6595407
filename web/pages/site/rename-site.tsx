import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { type ChangedSite, LONGEST_SITE_NAME, readSite } from '../../api/sites.ts';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useDraft } from '../../components/use-draft.ts';

export function RenameSiteDialog({
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
      title={`Rename ${site.name}`}
      description="Renaming a site does not change any address."
    >
      <RenameForm site={site} onClose={onClose} />
    </Dialog>
  );
}

function RenameForm({ site, onClose }: { site: ChangedSite; onClose(): void }) {
  const queries = useQueryClient();
  const draft = useDraft<Pick<ChangedSite, 'name'>, { name: string }>({
    resource: site,
    fieldsOf: ({ name }) => ({ name }),
    read: () => readSite(site.id),
    async save(body, header) {
      const params = { path: { site_id: site.id }, header };
      const renamed = await unwrap(hosting.PATCH('/sites/{site_id}', { params, body }));
      await queries.invalidateQueries({ queryKey: ['site'] });
      showSuccess(`Renamed the site to ${renamed.name}.`);
      onClose();
    },
  });
  return (
    <Form draft={draft} submitLabel="Rename site">
      <TextField
        label="Name"
        required
        maxLength={LONGEST_SITE_NAME}
        autoComplete="off"
        {...draft.field('name')}
      />
    </Form>
  );
}
