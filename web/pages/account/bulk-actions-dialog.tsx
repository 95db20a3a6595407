import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Install } from '../../api/installs.ts';
import { Dialog } from '../../components/dialog.tsx';
import { RadioGroup, TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { InstallPicker } from '../../components/install-picker.tsx';
import { Notice } from '../../components/notice.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { describedBackup } from '../install/backups/backup-labels.ts';
import type { RefusedInstall } from './batches.ts';
import { BULK_ACTIONS, type BulkAction, requestBulkAction } from './bulk-actions.ts';

const WORDS: Record<BulkAction, { label: string; done: string; hint?: string }> = {
  backup: { label: 'Create backups', done: 'backed up' },
  purge_page_cache: { label: 'Purge page caches', done: 'purged' },
  purge_object_cache: {
    label: 'Purge object caches',
    done: 'purged',
    hint: 'Only installs that run PHP, at most once a minute each.',
  },
  purge_all_caches: {
    label: 'Purge all caches',
    done: 'purged',
    hint: 'Every cache that an install has, at most once a minute each.',
  },
};

interface BulkActionsProps {
  accountId: string;
  installs: readonly Install[];
  /** IDs of the installs that are selected at first. */
  preferred: readonly string[];
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Creates backups or purges caches of many installs at once. */
export function BulkActionsDialog({ open, onOpenChange, ...about }: BulkActionsProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Bulk actions"
      description="Actions continue if you close this page. Each install shows its own progress."
    >
      <BulkActionsForm {...about} onDone={() => onOpenChange(false)} />
    </Dialog>
  );
}

function BulkActionsForm({
  accountId,
  installs,
  preferred,
  onDone,
}: Omit<BulkActionsProps, 'open' | 'onOpenChange'> & { onDone(): void }) {
  const queries = useQueryClient();
  const [action, setAction] = useState<BulkAction>('backup');
  const [chosen, setChosen] = useState<readonly string[]>(preferred);
  const [refused, setRefused] = useState<RefusedInstall[]>([]);
  const runsPhp = installs.some(({ php_version }) => php_version !== null);
  // Without PHP, the page cache is the only one on most platforms.
  const offered = BULK_ACTIONS.filter((one) => runsPhp || one === 'backup' || one === 'purge_page_cache');

  async function askForAll(values: FormData) {
    const wanted = installs.filter(({ id }) => chosen.includes(id));
    setRefused([]);
    const left = await requestBulkAction(
      action,
      describedBackup(textOf(values, 'description'), new Date()),
      wanted,
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['backup'] }),
      queries.invalidateQueries({ queryKey: ['operation'] }),
    ]);
    const count = wanted.length - left.length;
    if (count > 0)
      showSuccess(`${count === 1 ? '1 install is' : `${count} installs are`} being ${WORDS[action].done}.`);
    if (left.length === 0) return onDone();
    // The next submission contains only these.
    setChosen(left.map(({ id }) => id));
    setRefused(left);
  }

  return (
    <Form submitLabel="Start" disabled={chosen.length === 0} onSubmit={askForAll}>
      {refused.length > 0 && (
        <Notice tone="bad" role="alert">
          <p>The action was refused for these installs. They are still selected:</p>
          <ul>
            {refused.map(({ id, name, sentence }) => (
              <li key={id}>
                <strong>{name}</strong>: {sentence}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      <RadioGroup
        label="Action"
        name="action"
        value={action}
        onChange={(value) => setAction(BULK_ACTIONS.find((one) => one === value) ?? action)}
        options={offered.map((value) => ({ value, label: WORDS[value].label, hint: WORDS[value].hint }))}
      />
      {action === 'backup' && (
        <TextField
          label="Description"
          name="description"
          hint="Optional. Helps you find the backups later, for example: Before the update"
          maxLength={1000}
        />
      )}
      <InstallPicker label="Installs" accountId={accountId} chosen={chosen} onChange={setChosen} />
    </Form>
  );
}
