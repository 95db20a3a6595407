import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { WithOperation } from '../../../lib/operation.ts';
import type { Platform } from '../../../platform/platform.ts';
import { clusterOf } from '../../hosts/cluster.ts';
import type { EdgeAddressBook } from '../../hosts/edge-address-book.ts';
import type { DomainRow } from '../domains/store.ts';
import { checkDomain } from './jobs.ts';
import { blankCheck } from './present.ts';
import type { DomainReport } from './schema.ts';
import { insertReport } from './store.ts';

/** The subject of a report and the request behind it. */
interface ReportRequest {
  install: { id: string; name: string };
  /** The domain to report on, then its sibling if the install has it. */
  domains: [DomainRow, ...DomainRow[]];
  lane: string;
  requestId: string | null;
}

/** Creates a report and queues the job that fills it. Clients can read it immediately. Returns its id and the operation's. */
export async function beginReport(
  transaction: Transaction,
  { config, queue, clock, random }: Pick<Platform, 'config' | 'queue' | 'clock' | 'random'>,
  edges: EdgeAddressBook,
  { install, domains, lane, requestId }: ReportRequest,
): Promise<WithOperation<{ reportId: string }>> {
  const { queries } = transaction;
  const [domain] = domains;
  const id = random.uuid();
  const place = {
    installId: install.id,
    installName: install.name,
    cluster: await clusterOf(queries, config, install.id),
  };
  const report: DomainReport = {
    complete: false,
    id,
    install_name: install.name,
    install_ip: (await edges.ofInstall(queries, install.id))[0] ?? '',
    admin: false,
    domains: domains.map(({ name }) => blankCheck(name, place)),
  };
  await insertReport(queries, {
    id,
    install_id: install.id,
    domain_id: domain.id,
    report,
    created_at: timestamp(clock),
  });
  const operationId = await queue.enqueue(transaction, checkDomain, {
    payload: { report_id: id },
    lane,
    install: install.id,
    requestId,
    result: { report_id: id },
  });
  return { reportId: id, operationId };
}
