import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { ApiFailure, FormError, unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useSession } from '../../../session/session.ts';
import { faultsOfAddresses, readAddresses } from './backup-labels.ts';

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
    showSuccess('The backup is being made. You can go on working.');
    onOpenChange(false);
  }

  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Make a backup of ${install.name}`}
      description="Its files and its database are copied and looked over. The website goes on meanwhile."
    >
      <Form submitLabel="Make the backup" onSubmit={make}>
        <TextField
          label="Description"
          name="description"
          hint="What it is for, so that you find it again: before the update, say."
          maxLength={1000}
          required
        />
        <TextField
          label="Addresses to tell"
          name="notification_emails"
          hint="Told by mail when it is completed or aborted. Several are parted by commas; none is fine too."
          defaultValue={user.email}
        />
      </Form>
    </Dialog>
  );
}

/** The server counts the addresses; people know them by what they wrote. */
function withAddressesNamed(error: unknown, addresses: readonly string[]): unknown {
  if (!(error instanceof ApiFailure)) return error;
  const faults = faultsOfAddresses(error.faults, addresses);
  if (faults === null) return error;
  const ofAddresses = faults.filter(({ field }) => field === 'notification_emails');
  return new FormError(ofAddresses.map(({ message }) => message).join(' '), faults);
}
