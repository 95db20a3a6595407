import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import { defineJob, type JobKind } from '../../jobs/job.ts';
import type { Platform } from '../../platform.ts';
import { type DomainRow, domainsOf } from '../domains/store.ts';
import { cnameOf } from '../installs/present.ts';
import { checkDomain } from './jobs.ts';
import { domainReportSchema } from './schema.ts';
import type { DomainReport } from './service.ts';
import { reportCertificate } from './shown-certificate.ts';

type DomainCheck = DomainReport['domains'][number];

/**
 * Fills a report from what the platform itself knows: the domain's rows and the certificate that the edge shows. It
 * asks no name server and opens no connection, and says so by leaving those fields empty.
 */
export function domainReportJobKinds({ config, database, clock }: Platform): JobKind[] {
  const { reader } = database;
  return [
    defineJob({
      ...checkDomain,
      async run({ report_id }) {
        const row = await reader
          .selectFrom('domain_reports')
          .select(['install_id', 'domain_id', 'report'])
          .where('id', '=', report_id)
          .executeTakeFirst();
        if (!row) return;
        const report = Value.Parse(domainReportSchema, row.report);
        const domains = await withSibling(reader, row.install_id, row.domain_id);
        const checks: DomainCheck[] = [];
        for (const domain of domains) checks.push(await check(domain, report.install_name));
        return async ({ queries }) => {
          await queries
            .updateTable('domain_reports')
            .set({ complete: true, report: JSON.stringify({ ...report, complete: true, domains: checks }) })
            .where('id', '=', report_id)
            .execute();
        };
      },
    }),
  ];

  async function check(domain: DomainRow, installName: string): Promise<DomainCheck> {
    const certificate = await reader
      .selectFrom('certificates')
      .select(['source', 'chain'])
      .where('domain_id', '=', domain.id)
      .executeTakeFirst();
    return {
      name: domain.name,
      cname: '',
      a_record: '',
      aaaa_record: '',
      result: resultSentence(domain, cnameOf(installName, config.siteDomain)),
      dns_provider: '',
      install_name: installName,
      cluster_id: '',
      http_forwarded: '',
      http_forwarded_list: '',
      platform_env_id: domain.install_id,
      complete: true,
      dns_error: false,
      http_error: false,
      ns: [],
      mx: [],
      txt: [],
      ip: [],
      address: [],
      soa: [],
      caa: [],
      aname: [],
      ssl: reportCertificate(certificate, clock.now()),
    };
  }
}

/** The domain and, where the install has it, its `www` or apex sibling. */
async function withSibling(queries: Queries, installId: string, domainId: string): Promise<DomainRow[]> {
  const all = await domainsOf(queries, installId).execute();
  const domain = all.find((candidate) => candidate.id === domainId);
  if (!domain) return [];
  const sibling = domain.name.startsWith('www.') ? domain.name.slice('www.'.length) : `www.${domain.name}`;
  return [domain, ...all.filter((candidate) => candidate.name === sibling)];
}

function resultSentence(domain: DomainRow, cname: string): string {
  if (domain.is_duplicate)
    return `${domain.name} is served by another install; remove it there to serve it here.`;
  if (domain.network_status === 'FAILED')
    return `The edge could not take on ${domain.name}; the operator finds the cause in the log.`;
  if (domain.network_status === 'PENDING')
    return `The edge is taking on ${domain.name}; look again in a moment.`;
  if (domain.is_cname) return `The edge serves ${domain.name}.`;
  return `The edge serves ${domain.name}; its DNS was not looked at: set its CNAME to ${cname}.`;
}
