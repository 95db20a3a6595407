import { useQueryClient } from '@tanstack/react-query';
import type { Backup } from '../../../api/backups.ts';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Form } from '../../../components/form.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { truncate } from '../../../components/truncate.ts';
import { NotificationEmailsField, withAddresses } from './notification-emails.tsx';
import { EVERYTHING, partsLabel } from './replacement.ts';

const LONGEST_DESCRIPTION = 120;

/** Packs a backup as one file to download. */
export function CreateArchive({
  open,
  onOpenChange,
  install,
  backup,
}: {
  open: boolean;
  onOpenChange(open: boolean): void;
  install: Install;
  backup: Backup;
}) {
  const queries = useQueryClient();

  async function pack(values: FormData) {
    const operationId = await withAddresses(values, (notification_emails) =>
      unwrapStarted(
        hosting.POST('/installs/{install_id}/archives', {
          params: { path: { install_id: install.id } },
          body: { backup_id: backup.id, notification_emails },
        }),
      ),
    );
    await Promise.all(
      ['backup', 'operation'].map((topic) => queries.invalidateQueries({ queryKey: [topic, install.id] })),
    );
    showOperation(operationId, {
      busy: 'Creating the archive. It appears under Archives.',
      done: 'Created the archive. Download it under Archives.',
    });
    onOpenChange(false);
  }

  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Download a backup"
      description={
        <>
          Packs {partsLabel(EVERYTHING, install)} of the backup "
          {truncate(backup.description, LONGEST_DESCRIPTION)}" as an archive: one .tar.gz file. Once it is
          ready, you can download it under Archives for 24 hours. Keep the link secret: it opens the archive
          without signing in.
        </>
      }
    >
      <Form submitLabel="Create archive" onSubmit={pack}>
        <NotificationEmailsField when="the archive is ready or fails" />
      </Form>
    </Dialog>
  );
}
