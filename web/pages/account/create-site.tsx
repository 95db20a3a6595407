import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { LONGEST_SITE_NAME } from '../../api/sites.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { showSuccess } from '../../components/toast.tsx';

/** Creates a site and opens it. */
export function CreateSiteDialog({
  accountId,
  open,
  onOpenChange,
}: {
  accountId: string;
  open: boolean;
  onOpenChange(open: boolean): void;
}) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Create site"
      description="A new site is empty. Next, create an install for each environment, or move existing installs into it."
    >
      <Form
        submitLabel="Create site"
        actions={<Button onClick={() => onOpenChange(false)}>Cancel</Button>}
        onSubmit={async (values) => {
          const site = await unwrap(
            hosting.POST('/sites', { body: { name: textOf(values, 'name'), account_id: accountId } }),
          );
          void queries.invalidateQueries({ queryKey: ['site', accountId] });
          showSuccess(`Created the site ${site.name}.`);
          navigate(`/sites/${site.id}`);
        }}
      >
        <TextField
          label="Name"
          name="name"
          hint="You can change it later."
          required
          maxLength={LONGEST_SITE_NAME}
          autoComplete="off"
        />
      </Form>
    </Dialog>
  );
}
