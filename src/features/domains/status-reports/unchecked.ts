import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import { type DomainReport, domainReportSchema } from './schema.ts';
import { findReport, writeComplete } from './store.ts';

export interface ReportRow {
  install_id: string;
  domain_id: string;
  report: DomainReport;
}

export async function reportRow(queries: Queries, id: string): Promise<ReportRow | undefined> {
  const row = await findReport(queries, id);
  return row && { ...row, report: Value.Parse(domainReportSchema, row.report) };
}

/** Completes a report whose job will not. `why` follows the name of the domain. */
export async function completeUnchecked(queries: Queries, reportId: string, why: string): Promise<void> {
  const row = await reportRow(queries, reportId);
  if (!row) return;
  const domains = row.report.domains.map((check) => ({
    ...check,
    complete: true,
    result: `${check.name} ${why}.`,
  }));
  await writeComplete(queries, reportId, { ...row.report, complete: true, domains });
}
