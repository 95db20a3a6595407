import type { QueryClient } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { unwrap, unwrapStarted } from '../../api/failure.ts';
import type { OperationResult } from '../../api/operations.ts';
import { showFailure, showOperation } from '../../components/toast.tsx';

interface Deleted {
  id: string;
  name: string;
}

/** Requests the restore of a deleted install, and shows how it goes. */
export async function restoreDeleted(
  queries: QueryClient,
  accountId: string,
  { id, name }: Deleted,
): Promise<void> {
  const operationId = await unwrapStarted(
    hosting.POST('/deleted_installs/{deleted_install_id}/restore', {
      params: { path: { deleted_install_id: id } },
    }),
  );
  showOperation(operationId, {
    busy: `Restoring ${name}.`,
    done: (result) => restoredSentence(name, result),
  });
  await queries.invalidateQueries({ queryKey: ['install', accountId] });
}

/** Names the domains that another install serves, or that need proof, so that the owner can act on them. */
function restoredSentence(name: string, result: OperationResult): string {
  const withheld = result?.withheld_domains;
  if (withheld === undefined) return `${name} is restored.`;
  return `${name} is restored, but does not serve these domains: ${withheld}.`;
}

const LOOK_EVERY_MS = 1_500;
const LOOK_AT_MOST = 80;

/** Undoes a deletion: restores the install as soon as its last backup is made. */
export async function undoDeletion(queries: QueryClient, accountId: string, install: Deleted): Promise<void> {
  try {
    for (let nth = 1; ; nth++) {
      const { results } = await unwrap(
        hosting.GET('/accounts/{account_id}/deleted_installs', {
          params: { path: { account_id: accountId } },
        }),
      );
      const found = results.find(({ id }) => id === install.id);
      if (found?.state !== 'deleting' || nth === LOOK_AT_MOST) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    await restoreDeleted(queries, accountId, install);
  } catch (error) {
    showFailure(error);
  }
}
