import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { SelectedInstall } from '../../api/install-list.ts';
import { Dialog } from '../../components/dialog.tsx';
import { RadioGroup, TextField } from '../../components/fields.tsx';
import { Form } from '../../components/form.tsx';
import { usePlatformHas } from '../../session/session.ts';
import { describedBackup } from '../install/backups/backup-labels.ts';
import type { Named, Requested } from './batches.ts';
import {
  BULK_ACTIONS,
  type BulkAction,
  isUpdate,
  requestOperations,
  requestUpdates,
} from './bulk-actions.ts';
import { BulkResults } from './bulk-results.tsx';

const WORDS: Record<BulkAction, { label: string; hint?: string }> = {
  update_plugins: {
    label: 'Update plugins',
    hint: 'A backup of each install is made first, and restored if a page fails afterwards.',
  },
  update_all: {
    label: 'Update WordPress, plugins and themes',
    hint: 'With the same backup. WordPress gets the newest version of its host.',
  },
  backup: { label: 'Create backups' },
  purge_page_cache: { label: 'Purge page caches' },
  purge_object_cache: {
    label: 'Purge object caches',
    hint: 'Only installs that run PHP, at most once a minute each.',
  },
  purge_all_caches: {
    label: 'Purge all caches',
    hint: 'Every cache that an install has, at most once a minute each.',
  },
};

/** So many installs are named before an action; the others are counted. */
const NAMED = 10;

interface BulkActionsProps {
  accountId: string;
  /** The selected installs, at least one. */
  installs: readonly SelectedInstall[];
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Creates backups, updates WordPress or purges caches of many installs at once. */
export function BulkActionsDialog({ accountId, open, onOpenChange, installs }: BulkActionsProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Bulk actions"
      description="Actions continue if you close this page. Each install shows its own progress."
    >
      <BulkActions accountId={accountId} installs={installs} />
    </Dialog>
  );
}

function BulkActions({ accountId, installs }: Pick<BulkActionsProps, 'accountId' | 'installs'>) {
  const queries = useQueryClient();
  // Later changes of the list do not change what was selected when the dialog opened.
  const [wanted, setWanted] = useState<readonly Named[]>(installs);
  const [action, setAction] = useState<BulkAction>('backup');
  const [description, setDescription] = useState('');
  const [requested, setRequested] = useState<readonly Requested[] | null>(null);
  const runsPhp = installs.some(({ php_version }) => php_version !== null);
  // Without PHP, the page cache is the only one on most platforms.
  const has = usePlatformHas();
  const offered = BULK_ACTIONS.filter((one) =>
    isUpdate(one)
      ? runsPhp && has('wordpress_updates')
      : one === 'backup' || one === 'purge_page_cache' || (runsPhp && has('object_cache')),
  );

  if (requested !== null) {
    return (
      <BulkResults
        requested={requested}
        onRetry={(left) => {
          setWanted(left);
          setRequested(null);
        }}
      />
    );
  }
  return (
    <Form
      submitLabel={`Start for ${wanted.length === 1 ? '1 install' : `${wanted.length} installs`}`}
      onSubmit={async () => {
        setRequested(
          isUpdate(action)
            ? await requestUpdates(accountId, action, wanted)
            : await requestOperations(action, describedBackup(description, new Date()), wanted),
        );
        await Promise.all([
          queries.invalidateQueries({ queryKey: ['backup'] }),
          queries.invalidateQueries({ queryKey: ['operation'] }),
        ]);
      }}
    >
      <p>
        {wanted
          .slice(0, NAMED)
          .map(({ name }) => name)
          .join(', ')}
        {wanted.length > NAMED && ` and ${wanted.length - NAMED} more`}
      </p>
      <RadioGroup
        label="Action"
        name="action"
        value={action}
        onValue={(value) => setAction(BULK_ACTIONS.find((one) => one === value) ?? action)}
        options={offered.map((value) => ({ value, label: WORDS[value].label, hint: WORDS[value].hint }))}
      />
      {action === 'backup' && (
        <TextField
          label="Description"
          name="description"
          hint="Optional. Helps you find the backups later, for example: Before the update"
          maxLength={1000}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
      )}
    </Form>
  );
}
