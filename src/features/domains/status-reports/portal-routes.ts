import { type Route, route } from '../../../api/route.ts';
import { Type, uuid } from '../../../api/schema.ts';
import type { DomainReportService } from './service.ts';

export function domainReportPortalRoutes(reports: DomainReportService): Route[] {
  return [
    route({
      method: 'POST',
      path: '/installs/:install_id/domains/check_all',
      summary: 'Begin status reports of all domains of an install',
      tag: 'Domains',
      errors: [401, 403, 404, 429, 503],
      success: 202,
      response: Type.Object({
        report_ids: Type.Array(uuid(), {
          description: 'one for a name and its www name; none for those of which one is being made',
        }),
      }),
      handle: async ({ caller, id }) => ({ report_ids: await reports.requestAll(caller, id('install_id')) }),
    }),
  ];
}
