import { type Route, route, Started } from '../../../api/route.ts';
import { Type, uuid } from '../../../api/schema.ts';
import { reportEnvelopeSchema, reportReferenceSchema } from './schema.ts';
import type { DomainReportService } from './service.ts';

export function domainReportRoutes(reports: DomainReportService): Route[] {
  const tag = 'Domains';
  return [
    route({
      method: 'POST',
      path: '/installs/:install_id/domains/:domain_id/check_status',
      operationId: 'checkStatus',
      summary: 'Begin a status report of a domain',
      description:
        'Looks from outside at the domain and, if the install has it, its `www` or apex name: DNS, HTTP and TLS. Limited to one request every 5 seconds for each install.',
      link: { operationId: 'getStatusReport', ids: { report_id: '/report_id' } },
      tag,
      errors: [401, 403, 404, 429, 500, 503],
      success: 202,
      starts: 'domain.check',
      response: reportReferenceSchema,
      async handle({ caller, id }) {
        const { reportId, operationId } = await reports.request(caller, id('install_id'), id('domain_id'));
        return new Started(operationId, { report_id: reportId });
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/domains/check_status/:report_id',
      operationId: 'getStatusReport',
      plainIds: true,
      summary: 'Get a status report',
      description:
        'Returns the findings so far. Poll it until `complete` is true. `result` says in one sentence what to change. Reports are kept for 30 days.',
      tag,
      errors: [401, 403, 404, 429, 500, 503],
      success: 200,
      response: reportEnvelopeSchema,
      handle: async ({ caller, id }) => ({
        report: await reports.get(caller, id('install_id'), id('report_id')),
      }),
    }),
  ];
}

export function domainReportPortalRoutes(reports: DomainReportService): Route[] {
  return [
    route({
      method: 'POST',
      path: '/installs/:install_id/domains/check_all',
      operationId: 'checkAllDomains',
      summary: 'Begin status reports of all domains of an install',
      tag: 'Domains',
      errors: [401, 403, 404, 429, 503],
      success: 202,
      response: Type.Object({
        report_ids: Type.Array(uuid(), {
          description: 'one for a name and its www name; none for domains with an unfinished report',
        }),
      }),
      handle: async ({ caller, id }) => ({ report_ids: await reports.requestAll(caller, id('install_id')) }),
    }),
  ];
}
