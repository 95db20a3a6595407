import { type Route, route, Started } from '../../../api/route.ts';
import { Type, uuid } from '../../../api/schema.ts';
import { domainReportSchema } from './schema.ts';
import type { DomainReportService } from './service.ts';

export function domainReportRoutes(reports: DomainReportService): Route[] {
  const tag = 'Domains';
  return [
    route({
      method: 'POST',
      path: '/installs/:install_id/domains/:domain_id/check_status',
      operationId: 'checkStatus',
      summary: 'Begin a status report of a domain',
      tag,
      errors: [401, 403, 404, 429, 500, 503],
      success: 202,
      starts: 'domain.check',
      response: Type.Object({ report_id: uuid() }),
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
      summary: 'Get a status report; poll until `complete`',
      tag,
      errors: [401, 403, 404, 429, 500, 503],
      success: 200,
      response: Type.Object({ report: domainReportSchema }),
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
