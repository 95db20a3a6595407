import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { Button } from '../../components/button.tsx';
import { environmentLabel } from '../../components/environments.ts';
import { Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { showFailure } from '../../components/toast.tsx';
import { restoreDeleted } from './restore-deleted.ts';

interface DeletedInstall {
  id: string;
  name: string;
  environment: string | null;
  state: 'deleting' | 'restorable';
  deleted_at: string;
  expires_at: string;
}

/** The deleted installs of an account that can be restored. Empty without any. */
export function DeletedInstalls({ accountId }: { accountId: string }) {
  const params = { path: { account_id: accountId } };
  const deleted = useQuery({
    queryKey: ['install', accountId, 'deleted'],
    queryFn: () => unwrap(hosting.GET('/accounts/{account_id}/deleted_installs', { params })),
  });
  const rows = deleted.data?.results ?? [];
  if (rows.length === 0) return null;
  const columns: Column<DeletedInstall>[] = [
    { id: 'name', header: 'Name', rowHeader: true, cell: ({ name }) => name },
    { id: 'environment', header: 'Environment', cell: ({ environment }) => labelOf(environment) },
    { id: 'deleted', header: 'Deleted', cell: ({ deleted_at }) => <Time at={deleted_at} /> },
    { id: 'kept', header: 'Kept until', cell: ({ expires_at }) => <Time at={expires_at} exact /> },
    {
      id: 'actions',
      header: 'Actions',
      cell: (install) =>
        install.state === 'deleting' ? (
          'Being deleted'
        ) : (
          <RestoreButton accountId={accountId} install={install} />
        ),
    },
  ];
  return (
    <Section title="Deleted installs">
      <p>Restore an install to get it back under its name, with its files, database and domains.</p>
      <Table
        caption="Deleted installs"
        addressName="deleted-"
        columns={columns}
        rows={rows}
        rowKey={({ id }) => id}
      />
    </Section>
  );
}

function RestoreButton({ accountId, install }: { accountId: string; install: DeletedInstall }) {
  const queries = useQueryClient();
  const { name } = install;
  const restore = useMutation({
    mutationFn: () => restoreDeleted(queries, accountId, install),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['install', accountId] }),
  });
  return (
    <Button small pending={restore.isPending} onClick={() => restore.mutate()}>
      Restore <span className="visually-hidden">{name}</span>
    </Button>
  );
}

function labelOf(environment: string | null): string {
  const known = (['production', 'staging', 'development'] as const).find((one) => one === environment);
  return environmentLabel(known ?? null);
}
