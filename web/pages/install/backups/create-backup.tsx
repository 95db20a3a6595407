import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { ApiFailure, FormError, unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useSession } from '../../../session/session.ts';
import { addressErrors, readAddresses } from './backup-labels.ts';

export function CreateBackup({
  open,
  onOpenChange,
  install,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  install: Install;
}) {
  const queries = useQueryClient();
  const { user } = useSession();

  async function make(values: FormData) {
    const addresses = readAddresses(textOf(values, 'notification_emails'));
    await unwrap(
      hosting.POST('/installs/{install_id}/backups', {
        params: { path: { install_id: install.id } },
        body: { description: textOf(values, 'description'), notification_emails: addresses },
      }),
    ).catch((error: unknown) => {
      throw withAddressesNamed(error, addresses);
    });
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['backup', install.id] }),
      queries.invalidateQueries({ queryKey: ['operation', install.id] }),
    ]);
    showSuccess('Creating the backup. You can keep working.');
    onOpenChange(false);
  }

  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Back up ${install.name}`}
      description="Copies the files and the database, and verifies them. The website stays online."
    >
      <Form submitLabel="Create backup" onSubmit={make}>
        <TextField
          label="Description"
          name="description"
          hint="Helps you find the backup later, for example: Before the update"
          maxLength={1000}
          required
        />
        <TextField
          label="Notify by email"
          name="notification_emails"
          hint="We email these addresses when the backup finishes or fails. Optional; separate addresses with commas."
          defaultValue={user.email}
        />
      </Form>
    </Dialog>
  );
}

/** The server's errors only have the index of an address. This names the address itself. */
function withAddressesNamed(error: unknown, addresses: readonly string[]): unknown {
  if (!(error instanceof ApiFailure)) return error;
  const errors = addressErrors(error.fieldErrors, addresses);
  if (errors === null) return error;
  const invalid = errors.filter(({ field }) => field === 'notification_emails');
  return new FormError(invalid.map(({ message }) => message).join(' '), errors);
}
