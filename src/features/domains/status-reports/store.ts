import type { Queries, Transaction } from '../../../database/database.ts';
import { siblingOf } from '../domains/domain-name.ts';
import { type DomainRow, domainsOf } from '../domains/store.ts';

/** A domain and, where the install has it, its `www` or apex sibling. */
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

/** Begins a report. */
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
 * The domains of an install of which a report may be begun, in the order of creation, each with its sibling and not once more by
 * that; none that a report is being made of.
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

/** A report of an install as it is stored. */
export function findReportOf(queries: Queries, installId: string, reportId: string) {
  return queries
    .selectFrom('domain_reports')
    .select('report')
    .where('id', '=', reportId)
    .where('install_id', '=', installId)
    .executeTakeFirst();
}

/** A report as it is stored, and what it is about. */
export function findReport(queries: Queries, id: string) {
  return queries
    .selectFrom('domain_reports')
    .select(['install_id', 'domain_id', 'report'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Deletes those that were begun before a time. */
export async function deleteReportsBefore(queries: Queries, before: string): Promise<void> {
  await queries.deleteFrom('domain_reports').where('created_at', '<', before).execute();
}

/** Writes what is known so far; nothing once the report is complete. */
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

/** Notes on a domain what its check saw; false if it has been deleted meanwhile. */
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
