import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { type ChangedSite, LONGEST_SITE_NAME } from '../../api/sites.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { showSuccess } from '../../components/toast.tsx';

export function RenameSiteDialog({
  site,
  open,
  onClose,
}: {
  site: ChangedSite;
  open: boolean;
  onClose(): void;
}) {
  const queries = useQueryClient();
  return (
    <Dialog
      open={open}
      onOpenChange={(next) => next || onClose()}
      title={`Rename ${site.name}`}
      description="Renaming a site does not change any address."
    >
      <Form
        submitLabel="Rename site"
        actions={<Button onClick={onClose}>Cancel</Button>}
        onSubmit={async (values) => {
          const renamed = await unwrap(
            hosting.PATCH('/sites/{site_id}', {
              params: { path: { site_id: site.id } },
              body: { name: textOf(values, 'name') },
            }),
          );
          await queries.invalidateQueries({ queryKey: ['site'] });
          showSuccess(`Renamed the site to ${renamed.name}.`);
          onClose();
        }}
      >
        <TextField
          label="Name"
          name="name"
          required
          maxLength={LONGEST_SITE_NAME}
          defaultValue={site.name}
          autoComplete="off"
        />
      </Form>
    </Dialog>
  );
}
