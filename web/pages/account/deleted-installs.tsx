import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap, unwrapStarted } from '../../api/failure.ts';
import type { OperationResult } from '../../api/operations.ts';
import { Button } from '../../components/button.tsx';
import { environmentLabel } from '../../components/environments.ts';
import { Section } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { showFailure, showOperation } from '../../components/toast.tsx';

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
      <Table caption="Deleted installs" columns={columns} rows={rows} rowKey={({ id }) => id} />
    </Section>
  );
}

function RestoreButton({ accountId, install }: { accountId: string; install: DeletedInstall }) {
  const queries = useQueryClient();
  const { id, name } = install;
  const restore = useMutation({
    mutationFn: () =>
      unwrapStarted(
        hosting.POST('/deleted_installs/{deleted_install_id}/restore', {
          params: { path: { deleted_install_id: id } },
        }),
      ),
    onSuccess: (operationId) =>
      showOperation(operationId, {
        busy: `Restoring ${name}.`,
        done: (result) => restoredSentence(name, result),
      }),
    onError: showFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ['install', accountId] }),
  });
  return (
    <Button small pending={restore.isPending} onClick={() => restore.mutate()}>
      Restore <span className="visually-hidden">{name}</span>
    </Button>
  );
}

/** Names the domains that another install serves, or that need proof, so that the owner can act on them. */
function restoredSentence(name: string, result: OperationResult): string {
  const withheld = result?.withheld_domains;
  if (withheld === undefined) return `${name} is restored.`;
  return `${name} is restored, but does not serve these domains: ${withheld}.`;
}

function labelOf(environment: string | null): string {
  const known = (['production', 'staging', 'development'] as const).find((one) => one === environment);
  return environmentLabel(known ?? null);
}
