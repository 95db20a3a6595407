import { Value } from 'typebox/value';
import type { Caller } from '../../../access/caller.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor } from '../../../access/request-transactions.ts';
import { lockRow } from '../../../database/lock.ts';
import { NotFound } from '../../../lib/failures.ts';
import type { WithOperation } from '../../../lib/operation.ts';
import type { Platform } from '../../../platform/platform.ts';
import { createEdgeAddressBook } from '../../hosts/edge-address-book.ts';
import { takeTurn } from '../../websites/installs/operation-limits.ts';
import { findInstallAccess } from '../../websites/installs/store.ts';
import { beginReport } from './begin-report.ts';
import { laneOf, laneOfAll } from './jobs.ts';
import { type DomainReport, domainReportSchema } from './schema.ts';
import { domainGroupsToCheck, findReportOf, withSibling } from './store.ts';

/** Limit per request. Clients request the rest after these. */
const MOST_AT_ONCE = 50;

export type DomainReportService = ReturnType<typeof createDomainReportService>;

export function createDomainReportService(platform: Platform) {
  const { config, database, clock } = platform;
  const edges = createEdgeAddressBook(config);

  return {
    /**
     * Creates a report and queues the job that fills it. Returns its id and the operation's. Throws NotFound, Forbidden,
     * RateLimited.
     */
    async request(
      caller: Caller,
      installId: string,
      domainId: string,
    ): Promise<WithOperation<{ reportId: string }>> {
      return changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const [domain, ...sibling] = await withSibling(queries, installId, domainId);
        if (domain === undefined) throw new NotFound();
        await takeTurn(transaction, installId, 'check_status', clock.now());
        return beginReport(transaction, platform, edges, {
          install: { id: installId, name: install.name },
          domains: [domain, ...sibling],
          lane: laneOf(install.account_id, installId),
          requestId: caller.origin.requestId,
        });
      });
    },

    /**
     * Creates reports for all domains of an install without an unfinished one. Counts once against the rate limit. Returns
     * the report ids. Throws NotFound, Forbidden, RateLimited.
     */
    async requestAll(caller: Caller, installId: string): Promise<string[]> {
      return changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findInstallAccess(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        await takeTurn(transaction, installId, 'check_status', clock.now());
        const ids: string[] = [];
        for (const domains of (await domainGroupsToCheck(queries, installId)).slice(0, MOST_AT_ONCE)) {
          const lane = laneOfAll(install.account_id);
          const report = { install: { id: installId, name: install.name }, domains, lane };
          const { reportId } = await beginReport(transaction, platform, edges, {
            ...report,
            requestId: caller.origin.requestId,
          });
          ids.push(reportId);
        }
        return ids;
      });
    },

    async get(caller: Caller, installId: string, reportId: string): Promise<DomainReport> {
      const { reader } = database;
      authorize('install.read', 'install.read', await findInstallAccess(reader, caller, installId));
      const row = await findReportOf(reader, installId, reportId);
      if (!row) throw new NotFound();
      return Value.Parse(domainReportSchema, row.report);
    },
  };
}
