import { Value } from 'typebox/value';
import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import { timestamp } from '../../clock.ts';
import { lockRow } from '../../database/lock.ts';
import { NotFound } from '../../failures.ts';
import type { Platform } from '../../platform.ts';
import { clusterOf } from '../hosts/cluster.ts';
import { createEdgeAddressBook } from '../hosts/edge-address-book.ts';
import { takeTurn } from '../installs/operation-limits.ts';
import { findStanding } from '../installs/store.ts';
import { checkDomain, laneOf } from './jobs.ts';
import { blankCheck } from './present.ts';
import { type DomainReport, domainReportSchema } from './schema.ts';
import { findReportOf, insertReport, withSibling } from './store.ts';

export type DomainReportService = ReturnType<typeof createDomainReportService>;

export function createDomainReportService({ config, database, queue, clock, random }: Platform) {
  const edges = createEdgeAddressBook(config);

  return {
    /** Begins a report; it can be read at once, and is filled by a job. Returns its id. */
    async request(caller: Caller, installId: string, domainId: string): Promise<string> {
      const id = random.uuid();
      await database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'installs', installId);
        const install = await findStanding(queries, caller, installId);
        authorize('install.work', 'install.read', install);
        const domains = await withSibling(queries, installId, domainId);
        if (domains.length === 0) throw new NotFound();
        await takeTurn(transaction, installId, 'check_status', clock.now());
        const place = {
          installId,
          installName: install.name,
          cluster: await clusterOf(queries, config, installId),
        };
        const report: DomainReport = {
          complete: false,
          id,
          install_name: install.name,
          install_ip: (await edges.ofInstall(queries, installId))[0] ?? '',
          admin: false,
          domains: domains.map(({ name }) => blankCheck(name, place)),
        };
        await insertReport(queries, {
          id,
          install_id: installId,
          domain_id: domainId,
          report,
          created_at: timestamp(clock),
        });
        await queue.enqueue(transaction, checkDomain, {
          payload: { report_id: id },
          lane: laneOf(installId),
          requestId: caller.origin.requestId,
        });
      });
      return id;
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
