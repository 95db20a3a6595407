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

/** Asks for the name of a new site, and goes there. */
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
      title="Create a site"
      description="It is empty at first. You then create its installs, one for each environment, or move some in."
    >
      <Form
        submitLabel="Create the site"
        actions={<Button onClick={() => onOpenChange(false)}>Cancel</Button>}
        onSubmit={async (values) => {
          const site = await unwrap(
            hosting.POST('/sites', { body: { name: textOf(values, 'name'), account_id: accountId } }),
          );
          void queries.invalidateQueries({ queryKey: ['site', accountId] });
          showSuccess(`The site ${site.name} is created.`);
          navigate(`/sites/${site.id}`);
        }}
      >
        <TextField
          label="Name"
          name="name"
          hint="For people: it can be changed later."
          required
          maxLength={LONGEST_SITE_NAME}
          autoComplete="off"
        />
      </Form>
    </Dialog>
  );
}
