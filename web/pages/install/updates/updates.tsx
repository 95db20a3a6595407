import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { useUpdates } from '../../../api/updates.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Badge } from '../../../components/notice.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Time } from '../../../components/time.tsx';
import { showFailure, showOperation } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import { afterChange } from '../operations/after-change.ts';
import { updateOutcome, updateState } from './update-labels.ts';

type Update = NonNullable<ReturnType<typeof useUpdates>['data']>[number];

const COLUMNS: Column<Update>[] = [
  { id: 'at', header: 'Time', rowHeader: true, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'state',
    header: 'State',
    cell: (update) => {
      const { word, tone } = updateState(update);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  {
    id: 'cause',
    header: 'Started by',
    cell: ({ cause }) => (cause === 'schedule' ? 'automatic updates' : 'a user'),
  },
  { id: 'outcome', header: 'Result', cell: (update) => updateOutcome(update) ?? '–' },
];

type Wanted = ({ core: true } | { plugins: 'all' } | { themes: 'all' }) & { keep?: true };

/** Updates of WordPress, plugins and themes: buttons, and the latest ones. */
export function Updates({ install }: { install: Install }) {
  const updates = useUpdates(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const queries = useQueryClient();
  const update = useMutation({
    mutationFn: (body: Wanted) =>
      unwrapStarted(
        hosting.POST('/installs/{install_id}/wordpress/updates', {
          params: { path: { install_id: install.id } },
          body,
        }),
      ),
    onSuccess: (operationId, body) =>
      showOperation(operationId, {
        busy: 'The update begins with a backup.',
        ...afterChange('The update has ended.', 'Update again', () => update.mutate({ ...body, keep: true })),
      }),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['operation', install.id] }),
  });
  const start = (body: Wanted, label: string) => (
    <Button pending={update.isPending} onClick={() => update.mutate(body)}>
      {label}
    </Button>
  );
  return (
    <Section
      title="Updates"
      actions={
        mayWork &&
        install.status === 'active' && (
          <>
            {start({ core: true }, 'Update WordPress')}
            {start({ plugins: 'all' }, 'Update all plugins')}
            {start({ themes: 'all' }, 'Update all themes')}
          </>
        )
      }
    >
      <p>
        A backup is made first, and pages are checked before and after each update. If a page is worse, the
        backup is restored; comments and orders since then are lost.
      </p>
      <Loaded query={updates} what="updates">
        {(all) =>
          all.length === 0 ? (
            <Empty>No updates yet.</Empty>
          ) : (
            <Table
              caption="Latest updates"
              addressName="updates"
              columns={COLUMNS}
              rows={all}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
