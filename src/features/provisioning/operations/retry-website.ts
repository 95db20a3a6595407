import type { Caller } from '../../../access/caller.ts';
import { authorize, type Verb } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import type { Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { InstallStatus } from '../../../database/tables/installs.ts';
import type { JobType } from '../../../jobs/job.ts';
import { Conflict, NotFound } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { awaitDomains } from '../../domains/domains/store.ts';
import { applyInstall, provisionInstall } from '../../websites/installs/jobs.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { awaitInstall, findWebsite } from '../../websites/installs/website-store.ts';

/** A job about an install. */
interface WebsiteJob {
  payload: { id: string };
  lane: string;
  requestId: string | null;
}

export type WebsiteRetry = ReturnType<typeof createWebsiteRetry>;

/** Repeats work that brings a website to the state that the database has. Its jobs have no other input. */
export function createWebsiteRetry({
  database,
  queue,
  activity,
}: Pick<Platform, 'database' | 'queue' | 'activity'>) {
  async function enqueue(
    caller: Caller,
    installId: string,
    {
      kind: { operation },
      start,
      verb,
      status,
    }: {
      kind: Pick<JobType, 'operation'>;
      start(transaction: Transaction, job: WebsiteJob): Promise<string>;
      verb: Verb;
      status: InstallStatus;
    },
    prepare: (transaction: Transaction) => Promise<void>,
  ): Promise<string> {
    return changeFor(database, caller, async (transaction) => {
      const { queries } = transaction;
      await lockRow(transaction, 'installs', installId);
      authorize(verb, 'install.read', await findInstallAccess(queries, caller, installId));
      const website = await findWebsite(queries, { id: installId });
      if (website === undefined) throw new NotFound();
      if (website.status !== status) throw new Conflict(`The install is ${website.status} by now.`);
      await prepare(transaction);
      const operationId = await start(transaction, {
        payload: { id: installId },
        lane: installId,
        requestId: caller.origin.requestId,
      });
      await activity.record(transaction, caller, website.account_id, {
        action: 'operation.retry',
        subject: { id: operationId, name: website.name },
        installId,
        details: { kind: operation ?? null },
      });
      return operationId;
    });
  }

  return {
    /** Creates a failed install again, under its name and with its settings. */
    create: (caller: Caller, installId: string): Promise<string> =>
      enqueue(
        caller,
        installId,
        {
          kind: provisionInstall,
          start: (transaction, job) => queue.enqueue(transaction, provisionInstall, job),
          verb: 'install.change',
          status: 'failed',
        },
        async ({ queries }) => {
          await awaitInstall(queries, installId);
          await awaitDomains(queries, installId);
        },
      ),

    /** Applies the present settings of an install. */
    apply: (caller: Caller, installId: string): Promise<string> =>
      enqueue(
        caller,
        installId,
        {
          kind: applyInstall,
          start: (transaction, job) => queue.enqueue(transaction, applyInstall, job),
          verb: 'install.work',
          status: 'active',
        },
        async () => {},
      ),
  };
}
