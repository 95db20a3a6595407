import { Value } from 'typebox/value';
import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import { lockRow } from '../../database/lock.ts';
import { NotFound } from '../../failures.ts';
import type { Platform } from '../../platform.ts';
import { createEdgeAddressBook } from '../hosts/edge-address-book.ts';
import { takeTurn } from '../installs/operation-limits.ts';
import { findStanding } from '../installs/store.ts';
import { beginReport } from './begin.ts';
import { laneOf } from './jobs.ts';
import { type DomainReport, domainReportSchema } from './schema.ts';
import { findReportOf, withSibling } from './store.ts';

export type DomainReportService = ReturnType<typeof createDomainReportService>;

export function createDomainReportService(platform: Platform) {
  const { config, database, clock } = platform;
  const edges = createEdgeAddressBook(config);

  return {
    /** Begins a report; it can be read at once, and is filled by a job. Returns its id. */
    async request(caller: Caller, installId: string, domainId: string): Promise<string> {
      return database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findStanding(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const [domain, ...sibling] = await withSibling(queries, installId, domainId);
        if (domain === undefined) throw new NotFound();
        await takeTurn(transaction, installId, 'check_status', clock.now());
        return beginReport(transaction, platform, edges, {
          install: { id: installId, name: install.name },
          domains: [domain, ...sibling],
          lane: laneOf(installId),
          requestId: caller.origin.requestId,
        });
      });
    },

    async get(caller: Caller, installId: string, reportId: string): Promise<DomainReport> {
      const { reader } = database;
      authorize('install.read', 'install.read', await findStanding(reader, caller, installId));
      const row = await findReportOf(reader, installId, reportId);
      if (!row) throw new NotFound();
      return Value.Parse(domainReportSchema, row.report);
    },
  };
}
