import type { Queries, Transaction } from '../../../database/database.ts';
import { siblingOf } from '../domains/domain-name.ts';
import { type DomainRow, domainsOf } from '../domains/store.ts';

/** A domain and its `www` or apex sibling, if the install has it. Empty if the domain does not exist. */
export async function withSibling(
  queries: Queries,
  installId: string,
  domainId: string,
): Promise<DomainRow[]> {
  const all = await domainsOf(queries, installId);
  const domain = all.find((candidate) => candidate.id === domainId);
  if (!domain) return [];
  const sibling = siblingOf(domain.name);
  return [domain, ...all.filter((candidate) => candidate.name === sibling)];
}

/** Adds an incomplete report. */
export async function insertReport(
  queries: Queries,
  row: { id: string; install_id: string; domain_id: string; report: object; created_at: string },
): Promise<void> {
  await queries
    .insertInto('domain_reports')
    .values({ ...row, complete: false, report: JSON.stringify(row.report) })
    .execute();
}

/**
 * The domains of an install in the order of creation, each grouped with its sibling. Leaves out domains with an unfinished
 * report.
 */
export async function domainGroupsToCheck(
  queries: Queries,
  installId: string,
): Promise<[DomainRow, ...DomainRow[]][]> {
  const all = await domainsOf(queries, installId);
  const unfinished = await queries
    .selectFrom('domain_reports')
    .select('domain_id')
    .where('install_id', '=', installId)
    .where('complete', '=', false)
    .execute();
  const left = new Map(all.map((domain) => [domain.name, domain]));
  const drop = ({ name }: DomainRow) => {
    left.delete(name);
    left.delete(siblingOf(name));
  };
  for (const { domain_id } of unfinished) {
    const domain = all.find(({ id }) => id === domain_id);
    if (domain) drop(domain);
  }
  const groups: [DomainRow, ...DomainRow[]][] = [];
  for (const domain of all) {
    if (!left.has(domain.name)) continue;
    const sibling = left.get(siblingOf(domain.name));
    groups.push(sibling ? [domain, sibling] : [domain]);
    drop(domain);
  }
  return groups;
}

/** The stored report of an install. */
export function findReportOf(queries: Queries, installId: string, reportId: string) {
  return queries
    .selectFrom('domain_reports')
    .select('report')
    .where('id', '=', reportId)
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

/** A stored report with its install and domain. */
export function findReport(queries: Queries, id: string) {
  return queries
    .selectFrom('domain_reports')
    .select(['install_id', 'domain_id', 'report'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Deletes reports that were created before a time. */
export async function deleteReportsBefore(queries: Queries, before: string): Promise<void> {
  await queries.deleteFrom('domain_reports').where('created_at', '<', before).execute();
}

/** Saves a partial report, unless the report is complete. */
export async function writePartial(queries: Queries, reportId: string, report: object): Promise<void> {
  await queries
    .updateTable('domain_reports')
    .set({ report: JSON.stringify(report) })
    .where('id', '=', reportId)
    .where('complete', '=', false)
    .execute();
}

export async function writeComplete(queries: Queries, reportId: string, report: object): Promise<void> {
  await queries
    .updateTable('domain_reports')
    .set({ complete: true, report: JSON.stringify(report) })
    .where('id', '=', reportId)
    .execute();
}

/** Records the result of a check on its domain. Returns false if the domain has been deleted. */
export async function recordReachability(
  { queries }: Transaction,
  domainId: string,
  reached: boolean | null,
  checkedAt: string,
): Promise<boolean> {
  const row = await queries
    .updateTable('domains')
    .set({ reached, checked_at: checkedAt })
    .where('id', '=', domainId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
