import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Install } from '../../api/installs.ts';
import { Dialog } from '../../components/dialog.tsx';
import { RadioGroup, TextField } from '../../components/fields.tsx';
import { Form, textOf } from '../../components/form.tsx';
import { InstallPicker } from '../../components/install-picker.tsx';
import { Notice } from '../../components/notice.tsx';
import { showSuccess } from '../../components/toast.tsx';
import type { RefusedInstall } from './batches.ts';
import { BULK_ACTIONS, type BulkAction, requestBulkAction } from './bulk-actions.ts';

const WORDS: Record<BulkAction, { label: string; done: string; hint?: string }> = {
  backup: { label: 'Make a backup of each', done: 'backed up' },
  purge_page_cache: { label: 'Purge the page caches', done: 'purged' },
  purge_object_cache: {
    label: 'Purge the object caches',
    done: 'purged',
    hint: 'Of those that run PHP; once a minute each.',
  },
};

interface BulkActionsProps {
  accountId: string;
  installs: readonly Install[];
  /** Those that are ticked at first. */
  preferred: readonly string[];
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Backups or purges of several installs at once. */
export function BulkActionsDialog({ open, onOpenChange, ...about }: BulkActionsProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Work on several installs"
      description="It is asked for all at once, and goes on when this page is closed. How it fares is shown with each install."
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
  const [what, setWhat] = useState<BulkAction>('backup');
  const [chosen, setChosen] = useState<readonly string[]>(preferred);
  const [refused, setRefused] = useState<RefusedInstall[]>([]);
  const runsPhp = installs.some(({ php_version }) => php_version !== null);
  const offered = BULK_ACTIONS.filter((one) => one !== 'purge_object_cache' || runsPhp);

  async function askForAll(values: FormData) {
    const wanted = installs.filter(({ id }) => chosen.includes(id));
    setRefused([]);
    const left = await requestBulkAction(what, textOf(values, 'description'), wanted);
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['backup'] }),
      queries.invalidateQueries({ queryKey: ['operation'] }),
    ]);
    const count = wanted.length - left.length;
    if (count > 0)
      showSuccess(`${count === 1 ? 'One install is' : `${count} installs are`} being ${WORDS[what].done}.`);
    if (left.length === 0) return onDone();
    // Sent again, it is asked for these alone.
    setChosen(left.map(({ id }) => id));
    setRefused(left);
  }

  return (
    <Form submitLabel="Start" disabled={chosen.length === 0} onSubmit={askForAll}>
      {refused.length > 0 && (
        <Notice tone="bad" role="alert">
          <p>These were refused, and are still chosen:</p>
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
        label="What"
        name="what"
        value={what}
        onChange={(value) => setWhat(BULK_ACTIONS.find((one) => one === value) ?? what)}
        options={offered.map((value) => ({ value, label: WORDS[value].label, hint: WORDS[value].hint }))}
      />
      {what === 'backup' && (
        <TextField
          label="Description"
          name="description"
          hint="What they are for, so that you find them again: before the update, say."
          maxLength={1000}
          required
        />
      )}
      <InstallPicker label="Installs" accountId={accountId} chosen={chosen} onChange={setChosen} />
    </Form>
  );
}
