import { hosting, portal } from '../../api/client.ts';
import { refusalMessage, unwrap } from '../../api/failure.ts';
import { inBatches, type Named, type Requested } from './batches.ts';

/** Actions that the server accepts for many installs at once. */
const OPERATIONS = ['backup', 'purge_page_cache', 'purge_object_cache', 'purge_all_caches'] as const;
type BulkOperation = (typeof OPERATIONS)[number];
const UPDATES = ['update_plugins', 'update_all'] as const;
type BulkUpdate = (typeof UPDATES)[number];
export const BULK_ACTIONS = [...OPERATIONS, ...UPDATES] as const;
export type BulkAction = BulkOperation | BulkUpdate;

/** Whether an action updates WordPress, plugins or themes. */
export const isUpdate = (action: BulkAction): action is BulkUpdate => UPDATES.some((one) => one === action);

/**
 * Requests an action for many installs in as few requests as the server allows. The actions continue if the page is closed. Returns
 * one result for each install, in their order.
 */
export function requestOperations(
  operation: BulkOperation,
  description: string,
  installs: readonly Named[],
): Promise<Requested[]> {
  return inBatches(installs, async (batch) => {
    const { results } = await unwrap(
      portal.POST('/portal/api/installs/operations', {
        body: {
          operation,
          description: operation === 'backup' ? description : null,
          install_ids: batch.map(({ id }) => id),
        },
      }),
    );
    const answers = new Map(results.map((answer) => [answer.install_id, answer]));
    return batch.flatMap(({ id, name }): Requested[] => {
      const answer = answers.get(id);
      if (answer === undefined) return [];
      const { operation_id, refusal } = answer;
      if (operation_id !== null) return [{ id, name, operationId: operation_id }];
      return refusal === null ? [] : [{ id, name, refusal: refusalMessage(refusal) }];
    });
  });
}

/** Requests updates of many installs of an account. Returns one result for each install, in their order. */
export function requestUpdates(
  accountId: string,
  update: BulkUpdate,
  installs: readonly Named[],
): Promise<Requested[]> {
  return inBatches(installs, async (batch) => {
    const { operations, refused } = await unwrap(
      hosting.POST('/accounts/{account_id}/wordpress/updates', {
        params: { path: { account_id: accountId } },
        body: {
          install_ids: batch.map(({ id }) => id),
          plugins: 'all',
          ...(update === 'update_all' ? { core: true, themes: 'all' as const } : {}),
        },
      }),
    );
    const started = new Map(operations.map((one) => [one.install_id, one.operation_id]));
    const refusals = new Map(refused.map((one) => [one.install_id, one.message]));
    return batch.map(({ id, name }): Requested => {
      const operationId = started.get(id);
      if (operationId !== undefined) return { id, name, operationId };
      return { id, name, refusal: refusals.get(id) ?? 'The update was not requested.' };
    });
  });
}
