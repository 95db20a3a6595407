import type { Transaction } from '../../../database/database.ts';
import type { Host } from '../../../hosting/contract/host.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import { defaultDomain } from '../../../lib/default-domain.ts';
import { createPartialWrites } from '../../../lib/partial-writes.ts';
import type { CaaRecord } from '../../../network/dns/record.ts';
import type { Platform } from '../../../platform/platform.ts';
import { clusterOf } from '../../hosts/cluster.ts';
import { createEdgeAddressBook } from '../../hosts/edge-address-book.ts';
import type { DomainRow } from '../domains/store.ts';
import { challengesOf } from '../domains/verifications.ts';
import type { DnsTarget, DomainContext, Observation } from './domain-context.ts';
import type { Internet } from './internet.ts';
import { checkDomain } from './jobs.ts';
import { type ObserveParts, observeDomain } from './observe-domain.ts';
import { blankCheck, type DomainCheck, type Place, presentCheck } from './present.ts';
import type { DomainReport } from './schema.ts';
import { recordReachability, withSibling, writeComplete, writePartial } from './store.ts';
import { completeUnchecked, type ReportRow, reportRow } from './unchecked.ts';

/** Calls from checks to certificate issuance. */
export interface IssuanceHooks {
  /** One sentence that says why the records forbid the configured authority to issue; null if they allow it. */
  refusalByCaa(name: string, caa: CaaRecord[], signal: AbortSignal): Promise<string | null>;
  /** Called in the transaction that ends a check. It may start an order. */
  checked(transaction: Transaction, seen: { domainId: string; reached: boolean | null }): Promise<void>;
}

interface Parts {
  host: Pick<Host, 'publish' | 'withdraw'>;
  internet: Internet;
  /** Null: no authority is configured. */
  issuance: IssuanceHooks | null;
  /** The signal that ends all observations of a report, before the job's timeout does. */
  timeLimit?: () => AbortSignal;
}

const TIME_LIMIT_MS = 20_000;
const WRITE_EVERY_MS = 250;

interface ObservedDomain {
  context: DomainContext;
  observation: Observation;
}

/** The job that observes domains from outside and fills their reports. */
export function domainReportJobKinds(
  { config, database, clock, random, log }: Platform,
  { host, internet, issuance, timeLimit = () => AbortSignal.timeout(TIME_LIMIT_MS) }: Parts,
): JobKind[] {
  const { reader } = database;
  const edges = createEdgeAddressBook(config);

  return [
    defineJob({
      ...checkDomain,
      async run({ report_id }, job) {
        const row = await reportRow(reader, report_id);
        if (!row) return;
        const parts: ObserveParts = {
          host,
          internet,
          random,
          log: job.log,
          refusalByCaa: issuance?.refusalByCaa ?? null,
        };
        const signal = AbortSignal.any([job.signal, timeLimit()]);
        const { report, examined } = await observeAll(row, parts, signal);
        // A worker that stops or has lost its lease may have missed observations.
        job.signal.throwIfAborted();
        return (transaction) => complete(transaction, report, examined);
      },
      giveUp: ({ report_id }, _failure, { queries }) =>
        completeUnchecked(
          queries,
          report_id,
          'could not be checked because of an internal error; request another report',
        ),
    }),
  ];

  async function observeAll(
    { report, install_id, domain_id }: ReportRow,
    parts: ObserveParts,
    signal: AbortSignal,
  ): Promise<{ report: DomainReport; examined: ObservedDomain[] }> {
    const place: Place = {
      installId: install_id,
      installName: report.install_name,
      cluster: await clusterOf(reader, config, install_id),
    };
    const target: DnsTarget = {
      cname: defaultDomain(report.install_name, config.siteDomain),
      addresses: await edges.ofInstall(reader, install_id),
    };
    const domains = await withSibling(reader, install_id, domain_id);
    const challenges = await challengesOf(reader, install_id, domains);
    const contexts = domains.map((domain) => contextOf(domain, target, challenges.get(domain.id) ?? null));
    const checks: DomainCheck[] = contexts.map(({ name }) => blankCheck(name, place));
    const writes = createPartialWrites<DomainCheck[]>(
      (domains) => writeSoFar({ ...report, complete: false, domains }),
      WRITE_EVERY_MS,
    );
    try {
      const examined = await Promise.all(
        contexts.map(async (context, position) => {
          const show = (observation: Observation, done: boolean) => {
            checks[position] = presentCheck(context, observation, place, done);
            writes.offer([...checks]);
          };
          const observation = await observeDomain(context, parts, signal, (seen) => show(seen, false));
          show(observation, true);
          return { context, observation };
        }),
      );
      return { report: { ...report, complete: true, domains: checks }, examined };
    } finally {
      await writes.end();
    }
  }

  /** Partial results are optional, so a failed write is only logged. */
  async function writeSoFar(report: DomainReport): Promise<void> {
    try {
      await database.write(({ queries }) => writePartial(queries, report.id, report));
    } catch (err) {
      log.warn({ err, report: report.id }, 'could not save a partial status report');
    }
  }

  async function complete(
    transaction: Transaction,
    report: DomainReport,
    examined: ObservedDomain[],
  ): Promise<void> {
    await writeComplete(transaction.queries, report.id, report);
    for (const { context, observation } of examined) {
      const reached = observation.reach?.reached ?? null;
      const stands = await recordReachability(transaction, context.id, reached, timestamp(clock));
      if (stands && !context.isDuplicate) {
        await issuance?.checked(transaction, { domainId: context.id, reached });
      }
    }
  }

  function contextOf(
    domain: DomainRow,
    target: DnsTarget,
    challenge: DomainContext['challenge'],
  ): DomainContext {
    return {
      id: domain.id,
      name: domain.name,
      isCname: domain.is_cname,
      isDuplicate: domain.is_duplicate,
      challenge,
      networkStatus: domain.network_status,
      sslReason: domain.ssl_reason,
      target,
      hasAuthority: issuance !== null,
    };
  }
}
