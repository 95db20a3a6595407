import type { Config } from '../../config/config.ts';
import type { Database, Queries } from '../../database/database.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { type Finding, ok, reasonOf, warning } from './finding.ts';

const CHECK = 'domain certificates';
const EXPIRES_SOON_MS = 14 * DAY_MS;
/** Number of domains that are named; the others are counted. */
const NAMED = 3;

/** Checks that every served domain has a certificate that is renewed in time. */
export async function checkDomainCertificates(
  { reader }: Pick<Database, 'reader'>,
  { acmeDirectory }: Pick<Config, 'acmeDirectory'>,
  clock: Clock,
): Promise<Finding[]> {
  const [failed, expiring] = await Promise.all([findFailed(reader), findExpiring(reader, clock)]);
  const findings: Finding[] = [];
  if (failed.count > 0) findings.push(judgeFailed(failed, acmeDirectory !== null));
  if (expiring.count > 0) findings.push(judgeExpiring(expiring, acmeDirectory !== null, clock));
  return findings.length > 0 ? findings : [ok(CHECK, 'All certificates are valid and renewed in time.')];
}

function judgeFailed({ count, first }: Failed, hasAuthority: boolean): Finding {
  const reason = first[0]?.ssl_reason ?? null;
  return warning(
    CHECK,
    `${count === 1 ? '1 domain has' : `${count} domains have`} no valid certificate: ${named(first, count)}` +
      `${reason === null ? '' : `. The first: ${reasonOf(reason)}`}.`,
    hasAuthority
      ? 'Fix the reason, which the status check of the domain shows. Homeport retries by itself, except for wildcards: upload their certificates.'
      : 'Start Homeport to create self-signed ones, or set HOMEPORT_ACME_DIRECTORY.',
  );
}

function judgeExpiring({ count, first }: Expiring, hasAuthority: boolean, clock: Clock): Finding {
  const soonest = first[0]?.not_after ?? '';
  const expires = soonest <= timestamp(clock) ? 'expired' : 'expires';
  return warning(
    CHECK,
    `${count === 1 ? '1 certificate was' : `${count} certificates were`} not renewed in time: ` +
      `${named(first, count)}; the first ${expires} on ${soonest.slice(0, 10)}.`,
    hasAuthority
      ? 'Start the server. If it runs, check the status of the domain, or read the log, for the reason.'
      : 'Set HOMEPORT_ACME_DIRECTORY again. Without an authority they are not renewed.',
  );
}

function named(domains: { name: string }[], count: number): string {
  const names = domains.map(({ name }) => name).join(', ');
  return count > domains.length ? `${names} and ${count - domains.length} more` : names;
}

interface Failed {
  count: number;
  first: { name: string; ssl_reason: string | null }[];
}

async function findFailed(queries: Queries): Promise<Failed> {
  const failed = served(queries).where('domain.ssl_status', '=', 'failed');
  const [first, { count }] = await Promise.all([
    failed.select(['domain.name', 'domain.ssl_reason']).orderBy('domain.seq').limit(NAMED).execute(),
    failed.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ]);
  return { count, first };
}

interface Expiring {
  count: number;
  first: { name: string; not_after: string }[];
}

/**
 * Certificates of the authority whose renewal is due and did not come: a short-lived one that is to be renewed later is
 * none of them. Those of domains that count as failed are named there.
 */
async function findExpiring(queries: Queries, clock: Clock): Promise<Expiring> {
  const expiring = served(queries)
    .innerJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .where('certificate.source', '=', 'LETS_ENCRYPT')
    .where('domain.ssl_status', '!=', 'failed')
    .where('certificate.not_after', '<=', timestamp(clock, EXPIRES_SOON_MS))
    .where((eb) =>
      eb.or([
        eb('certificate.renew_at', 'is', null),
        eb('certificate.renew_at', '<=', timestamp(clock)),
        eb('certificate.not_after', '<=', timestamp(clock)),
      ]),
    );
  const [first, { count }] = await Promise.all([
    expiring
      .select(['domain.name', 'certificate.not_after'])
      .orderBy('certificate.not_after')
      .limit(NAMED)
      .execute(),
    expiring.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ]);
  return { count, first };
}

/** Domains that need a certificate: those of installs that work, and of several of one name the one that is served. */
function served(queries: Queries) {
  return queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .where('domain.is_duplicate', '=', false)
    .where('install.status', '=', 'active');
}
