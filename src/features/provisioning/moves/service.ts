import type { Static } from 'typebox';
import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { isOperator } from '../../../access/operators.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor, readFor } from '../../../access/request-transactions.ts';
import type { Queries } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { Conflict, Forbidden, InvalidRequest, invalidValue, NotFound } from '../../../lib/failures.ts';
import { parseUuid } from '../../../lib/ids.ts';
import type { Platform } from '../../../platform/platform.ts';
import { allHosts, findHost } from '../../hosts/store.ts';
import { lockNamed, requireNamed, type Website } from '../../websites/installs/requested-website.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { findWebsite } from '../../websites/installs/website-store.ts';
import {
  endCancelledMove,
  lossOfReturn,
  type MoveView,
  type RequestedMove,
  refusalsOf,
  requestMove,
  requestReturn,
  viewMove,
} from './requests.ts';
import type { moveSchema } from './schema.ts';
import { openMove } from './store.ts';

/** The resource that faults of a request name. */
export const MOVE = 'Move';

/** Moves installs between machines: by name for the command line, and by id for operators who use the API and the portal. */
export function createMoveService(
  platform: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock' | 'random'>,
) {
  const { database, queue } = platform;

  /** An install that an operator sees. Throws NotFound and Forbidden. */
  async function requireMovable(queries: Queries, caller: Caller, installId: string): Promise<Website> {
    authorize('install.read', 'install.read', await findInstallAccess(queries, caller, installId));
    if (!(await isOperator(queries, caller))) throw new Forbidden();
    const install = await findWebsite(queries, { id: installId });
    if (install === undefined) throw new NotFound();
    return install;
  }

  /** The loss by a return to the former machine; null without a move to return from. */
  async function lossIfAny(queries: Queries, install: Website): Promise<string | null> {
    try {
      return await lossOfReturn(queries, install);
    } catch (error) {
      if (error instanceof Conflict) return null;
      throw error;
    }
  }

  return {
    /** Requests a move. Throws InvalidRequest and Conflict, with the reason and what to do, before anything happens. */
    request: (name: string, hostName: string): Promise<RequestedMove> =>
      database.write(async (transaction) => {
        const install = await lockNamed(transaction, name);
        const to = await findHost(transaction.queries, { name: hostName });
        if (to === undefined) {
          throw new InvalidRequest(`There is no host "${hostName}"; "homeport host list" shows them all.`);
        }
        return requestMove(platform, transaction, OPERATOR, { install, to });
      }),

    /** Cancels a move until the new machine takes over. Throws InvalidRequest and Conflict. */
    cancel: (name: string): Promise<void> =>
      database.write(async (transaction) => {
        const { queries } = transaction;
        const install = await requireNamed(queries, name);
        await lockRow(transaction, 'installs', install.id);
        const move = await openMove(queries, install.id);
        if (move === undefined) throw new Conflict(`The install "${name}" is not being moved.`);
        await endCancelledMove(platform, transaction, move.id);
        await queue.cancel(transaction, move.job_id);
      }),

    /** The loss by a return to the former machine, for the operator to confirm. Throws InvalidRequest, and Conflict without one. */
    async lossOfReturn(name: string): Promise<string> {
      const { reader } = database;
      return lossOfReturn(reader, await requireNamed(reader, name));
    },

    /** Returns an install to its former machine, if the new one is lost. Throws InvalidRequest and Conflict. */
    giveBack: (name: string): Promise<RequestedMove> =>
      database.write(async (transaction) =>
        requestReturn(platform, transaction, OPERATOR, await lockNamed(transaction, name)),
      ),

    /** The latest move of an install; null if it was never moved. Throws InvalidRequest. */
    async show(name: string): Promise<MoveView | null> {
      const { reader } = database;
      return viewMove(reader, (await requireNamed(reader, name)).id);
    },

    /** Where an install is, where it can move to, and its latest move. Throws NotFound and Forbidden. */
    get: (caller: Caller, installId: string): Promise<Static<typeof moveSchema>> =>
      readFor(database, caller, async (reader) => {
        const install = await requireMovable(reader, caller, installId);
        const hosts = await allHosts(reader);
        const others = hosts.filter(({ id }) => id !== install.host_id);
        const refusals = await refusalsOf(reader, install, others);
        const view = await viewMove(reader, installId);
        return {
          host: hosts.find(({ id }) => id === install.host_id)?.name ?? null,
          hosts: others.map(({ id, name }, index) => ({ id, name, refusal: refusals[index] ?? null })),
          latest: view && {
            ...{ operation_id: view.jobId, from: view.from, to: view.to, step: view.step },
            ...{ reason: view.reason, requested_at: view.requestedAt, switched_at: view.switchedAt },
            has_copy: view.hasCopy,
          },
          return_loss: await lossIfAny(reader, install),
        };
      }),

    /** Requests a move to a host, by its name or id. Returns the operation. Throws NotFound, Forbidden, InvalidRequest and Conflict. */
    begin: (caller: Caller, installId: string, host: string): Promise<string> =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await requireMovable(queries, caller, installId);
        const id = parseUuid(host);
        const to =
          (id === undefined ? undefined : await findHost(queries, { id })) ??
          (await findHost(queries, { name: host }));
        if (to === undefined) throw invalidValue(MOVE, 'host', 'unknown_host', 'There is no such host');
        return (await requestMove(platform, transaction, caller, { install, to })).jobId;
      }),

    /** Returns an install to its former machine. Returns the operation. Throws NotFound, Forbidden and Conflict. */
    beginReturn: (caller: Caller, installId: string): Promise<string> =>
      changeFor(database, caller, async (transaction) => {
        await lockRow(transaction, 'installs', installId);
        const install = await requireMovable(transaction.queries, caller, installId);
        return (await requestReturn(platform, transaction, caller, install)).jobId;
      }),
  };
}
