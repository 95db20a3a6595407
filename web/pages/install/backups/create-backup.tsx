import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { describedBackup } from './backup-labels.ts';
import { NotificationEmailsField, withAddresses } from './notification-emails.tsx';

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

  async function make(values: FormData) {
    const operationId = await withAddresses(values, (notification_emails) =>
      unwrapStarted(
        hosting.POST('/installs/{install_id}/backups', {
          params: { path: { install_id: install.id } },
          body: {
            description: describedBackup(textOf(values, 'description'), new Date()),
            notification_emails,
          },
        }),
      ),
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['backup', install.id] }),
      queries.invalidateQueries({ queryKey: ['operation', install.id] }),
    ]);
    showOperation(operationId, {
      busy: 'Creating the backup. You can keep working.',
      done: 'Created the backup.',
    });
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
          hint="Optional. Helps you find the backup later, for example: Before the update"
          maxLength={1000}
        />
        <NotificationEmailsField when="the backup finishes or fails" />
      </Form>
    </Dialog>
  );
}
