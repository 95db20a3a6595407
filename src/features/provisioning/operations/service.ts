import type { Caller } from '../../../access/caller.ts';
import { loadScope, type Scope } from '../../../access/memberships.ts';
import { isOperator } from '../../../access/operators.ts';
import { authorize, isAllowed, type ResourceAccess } from '../../../access/permissions.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import type { JobState } from '../../../database/tables/jobs.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import { Conflict, Forbidden, NotFound } from '../../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Platform } from '../../../platform/platform.ts';
import { outputFields, readOutput } from '../../websites/wp-cli/outputs.ts';
import type { Cancellations } from './cancellation.ts';
import { type Operation, presentOperation } from './present.ts';
import type { Retries } from './retries.ts';
import {
  findJobOf,
  findOperation,
  findOperations,
  isInstallOf,
  isKindUnderWay,
  type OperationFilters,
  type OperationRecord,
  pageOfOperations,
} from './store.ts';
import { createWaits } from './waits.ts';

export type OperationService = ReturnType<typeof createOperationService>;

/** A request whose answer is held. */
interface Held {
  /** A signal that aborts when the client is gone. */
  disconnected(): AbortSignal;
  /** The caller with the present limits. */
  reauthenticate(): Promise<Caller>;
}

/** The operations of accounts (docs/api.md, Operations). */
export function createOperationService(
  { database, queue, activity, sealer }: Pick<Platform, 'database' | 'queue' | 'activity' | 'sealer'>,
  cancellations: Cancellations,
  retries: Retries,
) {
  const { reader } = database;
  const serially = serializeByKey();

  /** Throws NotFound. */
  async function get(caller: Caller, id: string): Promise<Operation> {
    const queries = readerFor(database, caller);
    const scope = await loadScope(queries, caller);
    const record = isEmpty(scope) ? undefined : await findOperation(queries, scope, id);
    if (!record) throw new NotFound();
    return withOutput(caller, scope, record, presentOperation(record));
  }

  /** Adds the outputs of WP-CLI for callers who may run commands. */
  async function withOutput(
    caller: Caller,
    scope: Scope,
    record: OperationRecord,
    operation: Operation,
  ): Promise<Operation> {
    if (operation.kind !== 'wordpress.cli' || operation.result === null) return operation;
    const isShown = isAllowed('install.work', accessOf(scope, record)) && caller.limits?.readOnly !== true;
    const output = isShown ? await readOutput(reader, sealer, operation.id) : null;
    return output === null
      ? operation
      : { ...operation, result: { ...operation.result, ...outputFields(output) } };
  }

  const waits = createWaits(database);

  return {
    get,

    /**
     * The operation when it has ended, or as it is after `seconds`, or at once when the process stops. Throws NotFound, and
     * Unauthenticated if the credential or session has ended meanwhile.
     */
    async wait(
      caller: Caller,
      id: string,
      { seconds, disconnected, reauthenticate }: Held & { seconds: number },
    ): Promise<Operation> {
      const present = await get(caller, id);
      if (seconds === 0 || present.finished_at !== null) return present;
      const gone = disconnected();
      await waits.hold(id, seconds * SECOND_MS, gone);
      // No one reads this answer.
      return gone.aborted ? present : get(await reauthenticate(), id);
    },

    /** Answers all waiting requests, and later ones at once. */
    close: waits.close,

    /** Oldest first. An account that the caller cannot see has none. */
    async list(
      caller: Caller,
      page: PageRequest,
      { account_id, ...filters }: OperationFilters & { account_id?: string | undefined },
    ): Promise<PageOf<Operation>> {
      const scope = await loadScope(reader, caller, account_id);
      if (isEmpty(scope)) return { count: 0, results: [] };
      const found = await pageOfOperations(reader, scope, filters, page);
      return { ...found, results: found.results.map(presentOperation) };
    },

    /** Those of the given operations that the caller may see, in any order. */
    async listByIds(caller: Caller, ids: readonly string[]): Promise<Operation[]> {
      const scope = await loadScope(reader, caller);
      if (isEmpty(scope) || ids.length === 0) return [];
      return (await findOperations(reader, scope, ids)).map(presentOperation);
    },

    /**
     * Starts the work of a failed operation again, with the same input. Returns the id of the new operation. Throws NotFound, Forbidden;
     * Conflict if it has not failed, cannot be repeated, its install is gone, or the same work is in progress.
     */
    async retry(caller: Caller, id: string): Promise<string> {
      const scope = await loadScope(reader, caller);
      const record = isEmpty(scope) ? undefined : await findOperation(reader, scope, id);
      const job = record && (await findJobOf(reader, id));
      if (!record || !job) throw new NotFound();
      const { kind, status, account_id, install_id: installId } = record;
      const retry = retries.of(job);
      authorize(retry?.verb ?? 'install.work', 'install.read', accessOf(scope, record));
      if (status !== 'failed') throw new Conflict('Only an operation that has failed can be repeated');
      if (retry === null || installId === null) {
        throw new Conflict('Operations of this kind cannot be repeated. Request the work again.');
      }
      if (!(await isInstallOf(reader, installId, account_id))) {
        throw new Conflict('The install of this operation was deleted or belongs to another account now');
      }
      // Two requests at the same time must not both find that nothing is in progress.
      return serially(installId, async () => {
        if (await isKindUnderWay(reader, installId, kind)) {
          throw new Conflict('The same work is in progress on this install. Wait until it has ended.');
        }
        try {
          return await retry.start(caller, { installId, payload: job.payload, result: record.result });
        } catch (error) {
          // The operation exists; its domain, backup or source install does not.
          if (error instanceof NotFound) throw new Conflict('What the operation was about was deleted');
          throw error;
        }
      });
    },

    /**
     * Cancels an operation. One that runs ends within seconds, unless its work is completed first. Throws NotFound,
     * Forbidden; Conflict if it has ended or cannot be cancelled.
     */
    async cancel(caller: Caller, id: string): Promise<void> {
      await changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        const scope = await loadScope(queries, caller);
        const record = isEmpty(scope) ? undefined : await findOperation(queries, scope, id);
        const job = record && (await findJobOf(queries, id));
        if (!record || !job) throw new NotFound();
        const cancellation = cancellations.of(job);
        // The right to cancel is that of the action, so it comes before the reasons that do not depend on the caller.
        authorize(cancellation?.verb ?? 'install.work', 'install.read', accessOf(scope, record));
        if (cancellation?.needsOperator && !(await isOperator(queries, caller))) throw new Forbidden();
        if (cancellation === null) {
          throw new Conflict(cancellations.hasBegun(job) ? BEGUN : refusalOf(job.state));
        }
        await cancellation.begin?.(transaction, job.payload);
        const done = await queue.cancel(transaction, job.id);
        if (done === null) throw new Conflict(ENDED);
        if (done === 'called off' && cancellation.until !== 'ended') throw new Conflict(BEGUN);
        if (done === 'cancelled') await cancellations.end(transaction, job);
        await activity.record(transaction, caller, record.account_id, {
          action: 'operation.cancel',
          subject: { id, name: record.install_name ?? record.kind },
          installId: record.install_id,
          details: { kind: record.kind },
        });
      });
    },
  };
}

const isEmpty = ({ whole, partial }: Scope) => whole.length + partial.length === 0;

const ENDED = 'The operation has ended';
const BEGUN = 'The operation runs already and can no longer be cancelled';
const refusalOf = (state: JobState) =>
  state === 'queued' ? 'Operations of this kind cannot be cancelled' : state === 'running' ? BEGUN : ENDED;

/** The caller's access to an operation that their scope shows. */
function accessOf({ whole, installIds }: Scope, { account_id }: { account_id: string }): ResourceAccess {
  const member = whole.find((membership) => membership.account_id === account_id);
  return member && installIds === null ? { role: member.role, own: true } : { role: 'partial', own: true };
}
